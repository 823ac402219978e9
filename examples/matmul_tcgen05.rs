//! c = a · b on Blackwell: one warp copies tiles through TMA, one starts the products, four store.
//!
//! `cargo run --release --example matmul_tcgen05 [-- M N K | --large]`
//!
//! The accumulator of a product is in tensor memory, and one thread starts the products. Three parts of a block work on
//! different tiles at the same time, and signal each other with barriers:
//!
//! | part | waits for | does | signals |
//! |---|---|---|---|
//! | `load` | buffers that were read | copies a step of both operands | `full`, by the bytes that arrive |
//! | `multiply` | `full` buffers, accumulators that were stored | starts the products of a step | `empty` and `done`, by commits |
//! | `store` | `done` accumulators | reads them, converts them, and stores them by TMA | `free` |
//!
//! Blocks are either persistent, as many as run at once, and loop over a share of the tiles; or there is one for each tile, and blocks
//! that finish early take over tiles of blocks that have not started (`kiln::sched::Dynamic`): then no block waits for the slowest.
//!
//! In bf16 and f16, with either axis of each operand contiguous, and in FP8 (e4m3), contiguous along `k` and with
//! results in bf16. Every instance is checked against a product computed on the host, on Blackwell or on the emulator.

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

/// Blocks that compute tiles of 128 × `BN` one after the other: as many as run at once, which share the tiles among them; or one for each tile,
/// which take over those of blocks that have not begun.
#[kiln::kernel]
pub mod gemm {
    use kiln::Ring;
    use kiln::prelude::*;
    use kiln::sched::{Dynamic, Grouped, Persistent, Schedule};

    struct Gemm<T: Scalar, C: Float> {
        a: TensorMap<T, 2>,
        b: TensorMap<T, 2>,
        c: TensorMapMut<C, 2>,
        a_bufs: Shared<T>,
        b_bufs: Shared<T>,
        staged: Shared<C>,
        /// Two accumulators: one receives products, the other is stored.
        accs: Tmem<f32>,
        full: Barriers,
        empty: Barriers,
        done: Barriers,
        free: Barriers,
        depth: i32,
        bk: i32,
    }

    impl<T: Scalar, C: Float> Gemm<T, C> {
        fn new<const BN: i32, const BK: i32, const STAGES: i32>(
            a: TensorMap<T, 2>,
            b: TensorMap<T, 2>,
            c: TensorMapMut<C, 2>,
            depth: i32,
        ) -> Self {
            let [rows_a, columns_a] = a.block();
            let [rows_b, columns_b] = b.block();
            Gemm {
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
                depth,
                bk: BK,
            }
        }

        // ANCHOR: parts
        /// Fills the ring with operands for one tile.
        fn load<const A_K: bool, const B_K: bool>(&self, at: (i32, i32), from: Ring) -> Ring {
            let [bm, bn] = self.c.block();
            let mut ring = from;
            let (m, n) = (at.0 * bm, at.1 * bn);
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
            ring
        }

        /// Starts the products of a tile, waiting for none: commits free the buffers and pass the accumulator on.
        fn multiply<const A_K: bool, const B_K: bool>(&self, sums: Ring, from: Ring) -> Ring {
            let mut ring = from;
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
            ring
        }

        /// Stores a tile that is done, while the following products add to the other accumulator.
        fn store(&self, at: (i32, i32), sums: Ring) {
            let [bm, bn] = self.c.block();
            self.done[sums.slot].wait(sums.phase);
            let result = self.accs[sums.slot].load().cast::<C>();
            self.free[sums.slot].arrive();
            tma::store_wait(0); // the tile before this one has left `staged`
            self.staged.store(result);
            fence_async();
            tma::store(self.c, [at.0 * bm, at.1 * bn], self.staged);
        }
        // ANCHOR_END: parts
    }

    /// The work of the partitions for a tile of persistent blocks.
    impl<T: Scalar, C: Float> Gemm<T, C> {
        fn load_all<const A_K: bool, const B_K: bool>(&self, tiles: Persistent<Grouped<16>>) {
            let mut ring = Ring::writer(self.full.len());
            for i in 0..tiles.count() {
                ring = self.load::<A_K, B_K>(tiles.tile(i), ring);
            }
        }

        fn multiply_all<const A_K: bool, const B_K: bool>(&self, tiles: Persistent<Grouped<16>>) {
            let mut ring = Ring::reader(self.full.len());
            let mut sums = Ring::writer(self.free.len());
            for _ in 0..tiles.count() {
                ring = self.multiply::<A_K, B_K>(sums, ring);
                sums.advance();
            }
        }

        fn store_all(&self, tiles: Persistent<Grouped<16>>) {
            let mut sums = Ring::reader(self.done.len());
            for i in 0..tiles.count() {
                self.store(tiles.tile(i), sums);
                sums.advance();
            }
            tma::store_wait(0);
        }
    }

    /// The work for the tiles that a block takes over.
    impl<T: Scalar, C: Float> Gemm<T, C> {
        fn load_taken<const A_K: bool, const B_K: bool>(&self, tiles: Dynamic<Grouped<16>>) {
            let mut ring = Ring::writer(self.full.len());
            let mut claim = tiles.first();
            while claim.more {
                ring = self.load::<A_K, B_K>(tiles.tile(claim), ring);
                claim = tiles.next(claim);
            }
        }

        fn multiply_taken<const A_K: bool, const B_K: bool>(&self, tiles: Dynamic<Grouped<16>>) {
            let mut ring = Ring::reader(self.full.len());
            let mut sums = Ring::writer(self.free.len());
            let mut claim = tiles.first();
            while claim.more {
                ring = self.multiply::<A_K, B_K>(sums, ring);
                sums.advance();
                claim = tiles.next(claim);
            }
        }

        fn store_taken(&self, tiles: Dynamic<Grouped<16>>) {
            let mut sums = Ring::reader(self.done.len());
            let mut claim = tiles.first();
            while claim.more {
                self.store(tiles.tile(claim), sums);
                sums.advance();
                claim = tiles.next(claim);
            }
            tma::store_wait(0);
        }
    }

    /// A step along `k`, `BK`, is 128 bytes wide, as rows of the widest swizzle. `A_K` and `B_K` say whether `k` is contiguous in `a`, which then is of shape `[m, k]`, else `[k, m]`, and in `b`, of shape
    /// `[n, k]`, else `[k, n]`.
    #[kernel(target = sm_100f, warps = 4, grid = persistent(cdiv(c.dim(0), 128) * cdiv(c.dim(1), BN)),
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
        let p = Gemm::<T, C>::new::<BN, BK, STAGES>(a, b, c, a.dim(if A_K { 1 } else { 0 }));
        let tiles = Persistent::<Grouped<16>>::new(cdiv(c.dim(0), 128), cdiv(c.dim(1), BN));
        warp_specialize(
            || p.store_all(tiles),
            [
                partition(1).registers(40).run(|| p.multiply_all::<A_K, B_K>(tiles)),
                partition(1).registers(40).run(|| p.load_all::<A_K, B_K>(tiles)),
            ],
        );
    }

    /// A block for each tile: one that is done early takes over those that have not begun, for which a fourth part of it asks.
    #[kernel(target = sm_100f, warps = 4, grid = cdiv(c.dim(0), 128) * cdiv(c.dim(1), BN),
             instances((T, C, BN, BK, STAGES) = [(bf16, bf16, 128, 64, 4), (e4m3, bf16, 128, 128, 4)]))]
    pub fn matmul_dynamic<T: Scalar, C: Float, const BN: i32, const BK: i32, const STAGES: i32>(
        #[block(128, BK)] a: TensorMap<T, 2>,
        #[block(BN, BK)] b: TensorMap<T, 2>,
        #[block(128, BN)] c: TensorMapMut<C, 2>,
    ) {
        let p = Gemm::<T, C>::new::<BN, BK, STAGES>(a, b, c, a.dim(1));
        let tiles = Dynamic::<Grouped<16>>::new(cdiv(c.dim(0), 128), cdiv(c.dim(1), BN), 3);
        warp_specialize(
            || p.store_taken(tiles),
            [
                partition(1).registers(40).run(|| p.multiply_taken::<true, true>(tiles)),
                partition(1).registers(40).run(|| p.load_taken::<true, true>(tiles)),
                partition(1).registers(40).run(|| tiles.ask()),
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

/// Runs an instance whose blocks take over tiles.
macro_rules! dynamic {
    ($table:ident, $stream:ident, $size:ident, $name:literal, $t:ty, $bk:literal) => {
        product::run::<$t, bf16>(
            &mut $table,
            &$stream,
            $size,
            [Major::K, Major::K],
            &[$name],
            |_, a, b, c| {
                let args = gemm::matmul_dynamic::Args { a, b, c };
                gemm::matmul_dynamic::<$t, bf16, 128, $bk, 4>(args).launch(&$stream)
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
        dynamic!(table, stream, size, "bf16 128x128, tiles taken over", bf16, 64);
        // Rows of a tensor map begin at multiples of 16 bytes.
        if size[2].is_multiple_of(16) {
            instance!(table, stream, size, "e4m3 128x128, b [n, k]", e4m3 => bf16, K K, 128, 128);
            dynamic!(table, stream, size, "e4m3 128x128, tiles taken over", e4m3, 128);
        }
    }
    table.print();
    Ok(())
}
