//! c = a · b in f16 with asynchronous copies to shared memory and f32 accumulators: the Tilus V3 recipe for Ampere.
//!
//! `cargo run --release --example matmul_async_copy [-- M N K | --large]`
//!
//! All twelve instances are measured and compared with each other, and the fastest is checked against a product
//! computed on the host. Measurements are stored: a second run launches the fastest at once.

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::many_single_char_names,
    reason = "an example prints, measures in f64, and reads like the library code that it stands for"
)]

use kiln::prelude::*;
use kiln_tune::{Tuned, Tuner};

#[path = "support/product.rs"]
mod product;
#[path = "support/report.rs"]
mod report;

use product::Major;

// ANCHOR: kernel
/// One block computes a `BM` × `BN` tile of `c`, in steps of `BK`.
#[kernel(target = sm_80, warps = W, grid = [cdiv(c.dim(0), BM), cdiv(c.dim(1), BN)],
         instances((BM, BN) = [(128, 128), (128, 64), (64, 128)], BK = [16, 32], W = [4, 8]))]
pub fn matmul<const BM: i32, const BN: i32, const BK: i32, const W: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f16, 2>,
) {
    let (off_m, off_n) = (block_id(0) * BM, block_id(1) * BN);
    let sa = shared::<f16>([BM, BK]);
    let sb = shared::<f16>([BK, BN]);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in range(0, a.dim(1), BK) {
        copy_async(a.tile([off_m, k], [BM, BK]), sa);
        copy_async(b.tile([k, off_n], [BK, BN]), sb);
        copy_async_wait_all();
        sync(); // every thread sees the tiles
        acc = dot(sa.load(), sb.load(), acc);
        sync(); // nobody reads them any more
    }
    c.tile([off_m, off_n], [BM, BN]).store(acc.cast::<f16>());
}
// ANCHOR_END: kernel

// ANCHOR: tune
/// The instance for a product of this size: the fastest on this device, whose results agree with all others. It comes
/// from the cache or is measured now, unless `KILN_TUNE` and `KILN_TUNE_CACHE` change that.
fn tune(stream: &Stream, [m, n, k]: [usize; 3]) -> kiln_tune::Result<Tuned<matmul::Instance>> {
    let random = |len, seed| report::random(len, seed).into_iter().map(f16::from_f32).collect();
    let (a, b): (Vec<f16>, Vec<f16>) = (random(m * k, 1), random(k * n, 2));
    let (a, b) = (stream.upload(&a, [m, k])?, stream.upload(&b, [k, n])?);
    let mut c = stream.zeros::<f16, 2>([m, n])?;
    // Sums in f32 are rounded to the 11 bits of f16 at the end.
    let tuner = Tuner::new(stream, [m, n, k]).among(matmul::instances());
    tuner.tolerance(1e-3).run_checked(&mut c, |instance, c| {
        instance.with(matmul::Args { a: &a, b: &b, c }).launch(stream)
    })
}
// ANCHOR_END: tune

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::best_for(matmul::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<3>() {
        Some([m, n, k]) => vec![[m, n, k]],
        None if device.is_emulator() => vec![[256, 192, 128], [131, 77, 50]],
        None => vec![[4096, 4096, 4096], [1024, 1000, 520], [131, 77, 50]],
    };
    let mut table = product::table();
    for size in sizes {
        let tuned = tune(&stream, size)?;
        println!("{tuned}");
        // The fastest one computes what the host does: so do all, which agree with it.
        let name = tuned.best.to_string();
        product::run::<f16, f16>(
            &mut table,
            &stream,
            size,
            [Major::K, Major::Mn],
            &[&name],
            |_, a, b, c| tuned.best.with(matmul::Args { a, b, c }).launch(&stream),
        )?;
    }
    table.print();
    Ok(())
}
