//! c = a · b in f16 with f32 accumulators: a ring of shared-memory stages keeps copies in flight while the tensor cores work.
//!
//! `cargo run --release --example matmul_pipelined [-- M N K | --large]`
//!
//! Every instance is checked against a product computed on the host, and timed on a GPU.

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::many_single_char_names,
    reason = "an example prints, measures in f64, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

#[path = "support/product.rs"]
mod product;
#[path = "support/report.rs"]
mod report;

use product::Major;

// ANCHOR: kernel
/// One block computes a `BM` × `BN` tile of `c`, in steps of `BK`, with the copies of `STAGES - 1` steps in flight, or of fewer where the
/// target has not as much shared memory.
#[kernel(target = sm_80, warps = W, grid = cdiv(c.dim(0), BM) * cdiv(c.dim(1), BN),
         instances((BM, BN, BK, STAGES, W) = [
             (128, 128, 32, 3, 4), (128, 128, 32, 4, 4), (128, 128, 64, 3, 4), (128, 256, 64, 3, 8), (64, 64, 32, 4, 4),
         ]))]
pub fn matmul<const BM: i32, const BN: i32, const BK: i32, const STAGES: i32, const W: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f16, 2>,
) {
    // Blocks that run at the same time read the same rows of `a` and columns of `b`, which L2 then serves: eight tiles down, one to
    // the right.
    let (rows, columns) = (cdiv(c.dim(0), BM), cdiv(c.dim(1), BN));
    let group = block_id(0) / (8 * columns);
    let within = block_id(0) % (8 * columns);
    let height = (rows - group * 8).min(8);
    let off_m = (group * 8 + within % height) * BM;
    let off_n = within / height * BN;

    let (sa, sb) = (shared::<f16>([BM, BK]), shared::<f16>([BK, BN]));
    let mut acc = zeros::<f32>([BM, BN]);
    let stages = STAGES.min(shared_bytes_per_block() / ((BM + BN) * BK * 2));
    for k in pipeline(range(0, a.dim(1), BK), stages) {
        copy_async(a.tile([off_m, k], [BM, BK]), sa);
        copy_async(b.tile([k, off_n], [BK, BN]), sb);
        acc = dot(sa.load(), sb.load(), acc);
    }
    c.tile([off_m, off_n], [BM, BN]).store(acc.cast::<f16>());
}
// ANCHOR_END: kernel

fn main() -> Result<()> {
    let device = Device::best_for(matmul::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<3>() {
        Some([m, n, k]) => vec![[m, n, k]],
        None if device.is_emulator() => vec![[256, 384, 160], [131, 77, 50]],
        None => vec![[4096, 4096, 4096], [8192, 8192, 8192], [1024, 1000, 520], [131, 77, 50]],
    };
    let mut table = product::table();
    let instances: Vec<_> = matmul::instances().collect();
    let name = |i: &matmul::Instance| {
        format!("{}x{}x{} {} stages {} warps", i.BM, i.BN, i.BK, i.STAGES, i.W)
    };
    let names: Vec<String> = instances.iter().map(name).collect();
    for size in sizes {
        product::run::<f16, f16>(
            &mut table,
            &stream,
            size,
            [Major::K, Major::Mn],
            &names,
            |at, a, b, c| instances[at].with(matmul::Args { a, b, c }).launch(&stream),
        )?;
    }
    table.print();
    Ok(())
}
