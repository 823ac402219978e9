//! c = a · b on Blackwell: one warp copies tiles through TMA, one starts the products, four store.
//!
//! `cargo run --release --example matmul_tcgen05 [-- M N K | --large]`
//!
//! The sums of a product lie in tensor memory, where one thread has the tensor cores add to them. Three parts of a block work on
//! different tiles at the same time, and tell each other by barriers:
//!
//! | part | waits for | does | tells |
//! |---|---|---|---|
//! | `load` | buffers that were read | copies a step of both factors | `full`, by the bytes that come |
//! | `multiply` | `full` buffers, sums that were stored | starts the products of a step | `empty` and `done`, by commits |
//! | `store` | `done` sums | reads them, converts them, and stores them by TMA | `free` |
//!
//! In bf16 and f16, with either index of each factor contiguous, and in FP8 (e4m3), whose depth is contiguous and whose results are
//! bf16. Every instance is checked against a product computed on the host, on Blackwell or on the emulator.

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

/// Blocks that stay: each computes tiles of 128 × `BN` one after the other.
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
        /// Two tiles of sums: one is added to while the other is stored.
        accs: Tmem<f32>,
        full: Barriers,
        empty: Barriers,
        done: Barriers,
        free: Barriers,
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

        /// Starts products, and waits for none: commits give the buffers back and hand the sums on.
        fn multiply<const A_K: bool, const B_K: bool>(&self) {
            let mut ring = Ring::reader(self.full.len());
            let mut sums = Ring::writer(self.free.len());
            for _ in 0..self.tiles.count() {
                self.free[sums.slot].wait(sums.phase);
                let acc = self.accs[sums.slot];
                for k in range(0, self.depth, self.bk) {
                    self.full[ring.slot].wait(ring.phase);
                    let (a, b) = (self.a_bufs[ring.slot], self.b_bufs[ring.slot]);
                    let a = if A_K { a } else { a.t() };
                    let b = if B_K { b.t() } else { b };
                    tcgen05::mma(a, b, acc).accumulate(k > 0);
                    tcgen05::commit(self.empty[ring.slot]);
                    ring.advance();
                }
                tcgen05::commit(self.done[sums.slot]);
                sums.advance();
            }
        }

        /// Stores what is done; the next products add to the other tile of sums meanwhile.
        fn store(&self) {
            let [bm, bn] = self.c.block();
            let mut sums = Ring::reader(self.done.len());
            for i in 0..self.tiles.count() {
                let (row, column) = self.tiles.tile(i);
                self.done[sums.slot].wait(sums.phase);
                let result = self.accs[sums.slot].load().cast::<C>();
                self.free[sums.slot].arrive();
                sums.advance();
                tma::store_wait(0); // the tile before this one has left `staged`
                self.staged.store(result);
                fence_async();
                tma::store(self.c, [row * bm, column * bn], self.staged);
            }
            tma::store_wait(0);
        }
    }

    /// A step of the depth, `BK`, is 128 bytes wide: rows of the widest swizzle. `A_K` and `B_K` say whether the depth is what is contiguous in `a`, of shape `[m, k]`, else `[k, m]`, and in `b`, of shape
    /// `[n, k]`, else `[k, n]`.
    #[kernel(target = sm_100a, warps = 4, grid = persistent(cdiv(c.dim(0), 128) * cdiv(c.dim(1), BN)),
             instances((T, C, BN, BK, STAGES, A_K, B_K) = [
                 (bf16, bf16, 128, 64, 4, true, false), (bf16, bf16, 128, 64, 4, true, true),
                 (bf16, bf16, 128, 64, 4, false, false), (bf16, bf16, 128, 64, 4, false, true),
                 (bf16, bf16, 64, 64, 4, true, false), (f16, f16, 128, 64, 4, true, false),
                 (e4m3, bf16, 128, 128, 4, true, true),
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
            accs: tmem([2, 128, BN]),
            full: barriers(STAGES, 1),
            empty: barriers(STAGES, 1),
            done: barriers(2, 1),
            free: barriers(2, 1),
            tiles: Persistent::<Grouped<16>>::new(cdiv(c.dim(0), 128), cdiv(c.dim(1), BN)),
            depth: a.dim(if A_K { 1 } else { 0 }),
            bk: BK,
        };
        warp_specialize(
            || p.store(),
            [
                partition(1).registers(40).run(|| p.multiply::<A_K, B_K>()),
                partition(1).registers(40).run(|| p.load::<A_K, B_K>()),
            ],
        );
    }
}

/// Runs an instance.
macro_rules! instance {
    ($table:ident, $stream:ident, $size:ident, $name:literal, $t:ty => $c:ty, $a:ident $b:ident, $bn:literal, $bk:literal) => {
        product::run::<$t, $c>(
            &mut $table,
            &$stream,
            $size,
            [Major::$a, Major::$b],
            &[$name],
            |_, a, b, c| {
                const A_K: bool = matches!(Major::$a, Major::K);
                const B_K: bool = matches!(Major::$b, Major::K);
                let args = gemm::matmul::Args { a, b, c };
                gemm::matmul::<$t, $c, $bn, $bk, 4, A_K, B_K>(args).launch(&$stream)
            },
        )?
    };
}

fn main() -> Result<()> {
    let device = Device::best_for(gemm::matmul::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<3>() {
        Some([m, n, k]) => vec![[m, n, k]],
        None if device.is_emulator() => vec![[264, 320, 144]],
        None => vec![[8192, 8192, 8192], [4096, 4096, 4096], [1000, 1096, 528]],
    };
    let mut table = product::table();
    for size in sizes {
        instance!(table, stream, size, "bf16 128x128", bf16 => bf16, K Mn, 128, 64);
        instance!(table, stream, size, "bf16 128x128, b [n, k]", bf16 => bf16, K K, 128, 64);
        instance!(table, stream, size, "bf16 128x128, a [k, m]", bf16 => bf16, Mn Mn, 128, 64);
        instance!(table, stream, size, "bf16 128x128, a [k, m], b [n, k]", bf16 => bf16, Mn K, 128, 64);
        instance!(table, stream, size, "bf16 128x64", bf16 => bf16, K Mn, 64, 64);
        instance!(table, stream, size, "f16 128x128", f16 => f16, K Mn, 128, 64);
        // Rows of a tensor map begin at multiples of 16 bytes.
        if size[2].is_multiple_of(16) {
            instance!(table, stream, size, "e4m3 128x128, b [n, k]", e4m3 => bf16, K K, 128, 128);
        }
    }
    table.print();
    Ok(())
}
