//! c = a · b on Hopper, the shortest way: TMA copies tiles to shared memory, the tensor cores read them there.
//!
//! `cargo run --release --example matmul_wgmma [-- M N K | --large]`
//!
//! This kernel shows the four features of Hopper kernels and nothing else:
//!
//! 1. *Tensor maps.* `#[block(128, 64)] a: TensorMap<T, 2>` is a tensor that is copied in blocks of 128 x 64. One
//!    thread starts a copy, and the hardware does it.
//! 2. *Barriers.* A copy completes on a barrier: `expect` says how many bytes will arrive, `wait` waits for them.
//! 3. *Asynchronous products.* `wgmma::mma` starts a product of two tiles in shared memory, and goes on; `wgmma::wait` gives the result.
//! 4. *A ring of buffers.* While one pair of tiles is multiplied, the next ones are loaded.
//!
//! In bf16 and f16, with either axis of each operand contiguous. Every instance is checked against a product computed
//! on the host, and timed on a GPU. `matmul_persistent` and `matmul_warp_specialized` build on it.

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
/// One block of two warpgroups computes a tile of 128 × 128, in steps of 64 of the depth, with `STAGES` pairs of buffers.
///
/// `A_K` and `B_K` say whether `k` is contiguous in `a`, which then is of shape `[m, k]`, else `[k, m]`, and in `b`, of shape
/// `[n, k]`, else `[k, n]`.
#[kernel(target = sm_90a, warps = 8, grid = [cdiv(c.dim(0), 128), cdiv(c.dim(1), 128)],
         instances(T = [bf16, f16], (A_K, B_K) = [(true, false), (true, true), (false, false), (false, true)], STAGES = [4]))]
pub fn matmul<T: Float, const A_K: bool, const B_K: bool, const STAGES: i32>(
    #[block(if A_K { 128 } else { 64 }, if A_K { 64 } else { 128 })] a: TensorMap<T, 2>,
    #[block(if B_K { 128 } else { 64 }, if B_K { 64 } else { 128 })] b: TensorMap<T, 2>,
    #[block(128, 128)] c: TensorMapMut<T, 2>,
) {
    let (m, n) = (block_id(0) * 128, block_id(1) * 128);
    let steps = cdiv(a.dim(if A_K { 1 } else { 0 }), 64);
    let ([a_rows, a_columns], [b_rows, b_columns]) = (a.block(), b.block());
    let a_bufs = shared::<T>([STAGES, a_rows, a_columns]);
    let b_bufs = shared::<T>([STAGES, b_rows, b_columns]);
    let full = barriers(STAGES, 1);

    // Starts the copies of a step: their bytes are counted by the barrier of its buffers. What lies beyond the edge of a
    // tensor comes as zeros.
    let load = |step: i32| {
        if step < steps {
            let (slot, k) = (step % STAGES, step * 64);
            full[slot].expect(a.block_bytes() + b.block_bytes());
            tma::load(a, if A_K { [m, k] } else { [k, m] }, full[slot], a_bufs[slot]);
            tma::load(b, if B_K { [n, k] } else { [k, n] }, full[slot], b_bufs[slot]);
        }
    };

    for step in unroll(0..STAGES - 1) {
        load(step);
    }
    let mut acc = zeros::<f32>([128, 128]);
    for step in 0..steps {
        let slot = step % STAGES;
        full[slot].wait(step / STAGES % 2); // the barrier's phases alternate: 0, 1, 0, ..
        let at = if A_K { a_bufs[slot] } else { a_bufs[slot].t() };
        let bt = if B_K { b_bufs[slot].t() } else { b_bufs[slot] };
        acc = wgmma::mma(at, bt, acc);
        acc = wgmma::wait(1, acc); // the product before this one is done ..
        sync(); // .. in all warps: what it read may be overwritten
        load(step + STAGES - 1);
    }
    acc = wgmma::wait(0, acc);

    // Through shared memory, so that the tensor is written in rows; what lies beyond its edge is not.
    let staged = shared::<T>([128, 128]);
    staged.store(acc.cast::<T>());
    fence_async(); // TMA sees what the threads stored
    tma::store(c, [m, n], staged);
    tma::store_wait(0);
}
// ANCHOR_END: kernel

/// Runs the instances of an element type.
macro_rules! instances {
    ($table:ident, $stream:ident, $size:ident, $t:ty, [$(($name:literal, $a:ident, $b:ident)),*]) => {
        $(product::run::<$t, $t>(
            &mut $table,
            &$stream,
            $size,
            [Major::$a, Major::$b],
            &[concat!(stringify!($t), " ", $name)],
            |_, a, b, c| {
                const A_K: bool = matches!(Major::$a, Major::K);
                const B_K: bool = matches!(Major::$b, Major::K);
                matmul::<$t, A_K, B_K, 4>(matmul::Args { a, b, c }).launch(&$stream)
            },
        )?;)*
    };
}

fn main() -> Result<()> {
    let device = Device::best_for(matmul::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<3>() {
        Some([m, n, k]) => vec![[m, n, k]],
        None if device.is_emulator() => vec![[136, 264, 328]],
        None => vec![[8192, 8192, 8192], [4096, 4096, 4096], [1000, 1096, 520]],
    };
    let mut table = product::table();
    for size in sizes {
        instances!(
            table,
            stream,
            size,
            bf16,
            [
                ("a [m, k], b [k, n]", K, Mn),
                ("a [m, k], b [n, k]", K, K),
                ("a [k, m], b [k, n]", Mn, Mn),
                ("a [k, m], b [n, k]", Mn, K)
            ]
        );
        instances!(
            table,
            stream,
            size,
            f16,
            [
                ("a [m, k], b [k, n]", K, Mn),
                ("a [m, k], b [n, k]", K, K),
                ("a [k, m], b [k, n]", Mn, Mn),
                ("a [k, m], b [n, k]", Mn, K)
            ]
        );
    }
    table.print();
    Ok(())
}
