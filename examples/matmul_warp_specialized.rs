//! c = a · b on Hopper: one warp copies tiles through TMA, two warpgroups multiply and store.
//!
//! `cargo run --release --example matmul_warp_specialized [-- M N K | --large]`
//!
//! In bf16 and f16 with either axis of each operand contiguous, and in FP8 (e4m3, e5m2), contiguous along `k` and
//! with results in bf16 and f16. Every instance is checked against a product computed on the host, and timed on a
//! GPU.

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

use product::{Factor, Major, Products};

/// Persistent blocks: each computes tiles of 128 × `BN` one after the other, while the next tile's operands are loaded.
#[kiln::kernel]
pub mod gemm {
    use kiln::Ring;
    use kiln::prelude::*;
    use kiln::sched::{Grouped, Persistent, Schedule};

    struct Gemm<T: Scalar, C: Float> {
        a: TensorMap<T, 2>,
        b: TensorMap<T, 2>,
        c: TensorMapMut<C, 2>,
        a_bufs: Shared<T>,
        b_bufs: Shared<T>,
        staged: Shared<C>,
        full: Barriers,
        empty: Barriers,
        tiles: Persistent<Grouped<16>>,
        depth: i32,
        bk: i32,
    }

    impl<T: Scalar, C: Float> Gemm<T, C> {
        /// Fills the ring, tile after tile.
        fn load<const A_K: bool, const B_K: bool>(&self) {
            let [bm, bn] = self.c.block();
            let mut ring = Ring::writer(self.full.len());
            for i in 0..self.tiles.count() {
                let (row, column) = self.tiles.tile(i);
                let (m, n) = (row * bm, column * bn);
                for k in range(0, self.depth, self.bk) {
                    let full = self.full[ring.slot];
                    self.empty[ring.slot].wait(ring.phase);
                    full.expect(self.a.block_bytes() + self.b.block_bytes());
                    let at_a = if A_K { [m, k] } else { [k, m] };
                    let at_b = if B_K { [n, k] } else { [k, n] };
                    tma::load(self.a, at_a, full, self.a_bufs[ring.slot]);
                    tma::load(self.b, at_b, full, self.b_bufs[ring.slot]);
                    ring.advance();
                }
            }
        }

        // ANCHOR: multiply
        /// Multiplies, with one product in flight during the wait for the operands of the next, and stores.
        fn multiply<const A_K: bool, const B_K: bool>(&self) {
            let [bm, bn] = self.c.block();
            let mut ring = Ring::reader(self.full.len());
            for i in 0..self.tiles.count() {
                let (row, column) = self.tiles.tile(i);
                let mut acc = zeros::<f32>([bm, bn]);
                let mut before = ring.slot;
                for k in range(0, self.depth, self.bk) {
                    self.full[ring.slot].wait(ring.phase);
                    let (a, b) = (self.a_bufs[ring.slot], self.b_bufs[ring.slot]);
                    let a = if A_K { a } else { a.t() };
                    let b = if B_K { b.t() } else { b };
                    acc = wgmma::mma(a, b, acc);
                    acc = wgmma::wait(1, acc);
                    if k > 0 {
                        self.empty[before].arrive();
                    }
                    before = ring.slot;
                    ring.advance();
                }
                acc = wgmma::wait(0, acc);
                self.empty[before].arrive();
                tma::store_wait(0); // the tile before this one has left `staged`
                self.staged.store(acc.cast::<C>());
                fence_async();
                tma::store(self.c, [row * bm, column * bn], self.staged);
            }
            tma::store_wait(0);
        }
        // ANCHOR_END: multiply
    }

    /// A step along `k`, `BK`, is 128 bytes wide, as rows of the widest swizzle. `A_K` and `B_K` say whether `k` is contiguous in `a`, which then is of shape `[m, k]`, else `[k, m]`, and in `b`, of shape
    /// `[n, k]`, else `[k, n]`.
    #[kernel(target = sm_90a, warps = 8, grid = persistent(cdiv(c.dim(0), 128) * cdiv(c.dim(1), BN)),
             instances((T, C, BN, BK, STAGES, A_K, B_K) = [
                 (bf16, bf16, 256, 64, 3, true, false), (bf16, bf16, 256, 64, 3, true, true),
                 (bf16, bf16, 256, 64, 3, false, false), (bf16, bf16, 256, 64, 3, false, true),
                 (bf16, bf16, 128, 64, 4, true, false),
                 (f16, f16, 256, 64, 3, true, false), (f16, f16, 256, 64, 3, true, true),
                 (f16, f16, 256, 64, 3, false, false), (f16, f16, 256, 64, 3, false, true),
                 (e4m3, bf16, 256, 128, 3, true, true), (e4m3, bf16, 128, 128, 4, true, true),
                 (e5m2, f16, 256, 128, 3, true, true),
             ]))]
    pub fn matmul<
        T: Scalar,
        C: Float,
        const BN: i32,
        const BK: i32,
        const STAGES: i32,
        const A_K: bool,
        const B_K: bool,
    >(
        #[block(if A_K { 128 } else { BK }, if A_K { BK } else { 128 })] a: TensorMap<T, 2>,
        #[block(if B_K { BN } else { BK }, if B_K { BK } else { BN })] b: TensorMap<T, 2>,
        #[block(128, BN)] c: TensorMapMut<C, 2>,
    ) {
        let [rows_a, columns_a] = a.block();
        let [rows_b, columns_b] = b.block();
        let p = Gemm {
            a,
            b,
            c,
            a_bufs: shared([STAGES, rows_a, columns_a]),
            b_bufs: shared([STAGES, rows_b, columns_b]),
            staged: shared([128, BN]),
            full: barriers(STAGES, 1),
            empty: barriers(STAGES, 1),
            tiles: Persistent::<Grouped<16>>::new(cdiv(c.dim(0), 128), cdiv(c.dim(1), BN)),
            depth: a.dim(if A_K { 1 } else { 0 }),
            bk: BK,
        };
        warp_specialize(
            || p.multiply::<A_K, B_K>(),
            [partition(1).registers(40).run(|| p.load::<A_K, B_K>())],
        );
    }
}

/// Runs the instances for one type of operands and of results, and one choice of contiguous axes.
fn run<T: Factor, C: Factor>(
    products: &mut Products,
    stream: &Stream,
    size: [usize; 3],
    [left, right]: [Major; 2],
) -> Result<()> {
    let (t, c) = (Dtype::of::<T>(), Dtype::of::<C>());
    let contiguous = (left == Major::K, right == Major::K);
    let instances: Vec<_> = gemm::matmul::instances()
        .filter(|one| (one.T, one.C) == (t, c) && (one.A_K, one.B_K) == contiguous)
        .collect();
    let name = |one: &gemm::matmul::Instance| {
        let a = if one.A_K { "" } else { ", a [k, m]" };
        let b = if one.B_K { ", b [n, k]" } else { "" };
        format!("{t} 128x{}{a}{b}", one.BN)
    };
    let names: Vec<String> = instances.iter().map(name).collect();
    product::run::<T, C>(products, stream, size, [left, right], &names, |at, a, b, c| {
        instances[at].with(gemm::matmul::Args { a, b, c }).launch(stream)
    })
}

fn main() -> Result<()> {
    let device = Device::best_for(gemm::matmul::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<3>() {
        Some([m, n, k]) => vec![[m, n, k]],
        None if device.is_emulator() => vec![[264, 320, 144]],
        None => vec![[8192, 8192, 8192], [4096, 4096, 4096], [2048, 2048, 2048], [1000, 1096, 528]],
    };
    let mut table = product::table();
    for size in sizes {
        for left in [Major::K, Major::Mn] {
            for right in [Major::Mn, Major::K] {
                run::<bf16, bf16>(&mut table, &stream, size, [left, right])?;
                run::<f16, f16>(&mut table, &stream, size, [left, right])?;
            }
        }
        // Rows of a tensor map begin at multiples of 16 bytes.
        if size[2].is_multiple_of(16) {
            run::<e4m3, bf16>(&mut table, &stream, size, [Major::K; 2])?;
            run::<e5m2, f16>(&mut table, &stream, size, [Major::K; 2])?;
        }
    }
    table.print();
    Ok(())
}
