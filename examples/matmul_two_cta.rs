//! c = a · b on Blackwell with pairs of blocks whose tensor cores multiply together.
//!
//! `cargo run --release --example matmul_two_cta [-- M N K | --large]`
//!
//! A pair computes tiles of 256 × `BN`; each block has 128 rows of them. Each block loads its rows of `a` and half of
//! the columns of `b`. The tensor cores of both read both halves, so an operand goes through shared memory only once
//! for two blocks. The first block of the pair starts the products of both:
//!
//! | part | waits for | does | signals |
//! |---|---|---|---|
//! | `load`, in both blocks | buffers that were read | copies a step of its parts of the operands | `full` of the first block, by the bytes that arrive |
//! | `multiply`, in the first | `full` buffers, accumulators that both have stored | starts the products of a step | `empty` and `done` of both, by commits |
//! | `store`, in both blocks | `done` accumulators | reads its rows, converts them, and stores them by TMA | `free` of the first block |
//!
//! In bf16, and in FP8 (e4m3) with results in bf16. Every instance is checked against a product computed on the host, on Blackwell or on the
//! emulator.

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

/// Persistent pairs: each computes tiles of 256 × `BN`, one after another.
#[kiln::kernel]
pub mod gemm {
    use kiln::Ring;
    use kiln::prelude::*;
    use kiln::sched::{Clustered, Grouped, Schedule};

    struct Gemm<T: Scalar> {
        a: TensorMap<T, 2>,
        b: TensorMap<T, 2>,
        c: TensorMapMut<bf16, 2>,
        a_bufs: Shared<T>,
        b_bufs: Shared<T>,
        staged: Shared<bf16>,
        /// Two accumulators: one receives products, the other is stored.
        accs: Tmem<f32>,
        full: Barriers,
        empty: Barriers,
        done: Barriers,
        free: Barriers,
        /// The tiles of the pair are below one another, one for each block.
        tiles: Clustered<Grouped<8>>,
        depth: i32,
        bk: i32,
    }

    impl<T: Scalar> Gemm<T> {
        /// Fills this block's part of the ring, tile after tile; the first block waits for both.
        fn load(&self) {
            let [bm, bn] = self.c.block();
            let rank = cluster::rank();
            let bytes = self.a.block_bytes() + self.b.block_bytes();
            let mut ring = Ring::writer(self.full.len());
            for i in 0..self.tiles.count() {
                let (row, column) = self.tiles.tile(i);
                let (m, n) = (row * bm, column * bn + rank * (bn / 2));
                for k in range(0, self.depth, self.bk) {
                    let full = self.full[ring.slot].of_block(0);
                    self.empty[ring.slot].wait(ring.phase);
                    if rank == 0 {
                        self.full[ring.slot].expect(2 * bytes);
                    }
                    tma::load(self.a, [m, k], full, self.a_bufs[ring.slot]);
                    tma::load(self.b, [n, k], full, self.b_bufs[ring.slot]);
                    ring.advance();
                }
            }
        }

        /// Starts the products of both blocks, waiting for none: commits free the buffers and pass the accumulator on.
        fn multiply(&self) {
            let mut ring = Ring::reader(self.full.len());
            let mut sums = Ring::writer(self.free.len());
            for _ in 0..self.tiles.count() {
                self.free[sums.slot].wait(sums.phase);
                let acc = self.accs[sums.slot];
                for k in range(0, self.depth, self.bk) {
                    self.full[ring.slot].wait(ring.phase);
                    let (a, b) = (self.a_bufs[ring.slot], self.b_bufs[ring.slot]);
                    tcgen05::mma_pair(a, b.t(), acc).accumulate(k > 0);
                    tcgen05::commit(self.empty[ring.slot]).multicast(0b11);
                    ring.advance();
                }
                tcgen05::commit(self.done[sums.slot]).multicast(0b11);
                sums.advance();
            }
        }

        /// Stores this block's rows of what is done; meanwhile, the next products add to the other accumulator.
        fn store(&self) {
            let [bm, bn] = self.c.block();
            let mut sums = Ring::reader(self.done.len());
            for i in 0..self.tiles.count() {
                let (row, column) = self.tiles.tile(i);
                self.done[sums.slot].wait(sums.phase);
                let result = self.accs[sums.slot].load().cast::<bf16>();
                self.free[sums.slot].of_block(0).arrive();
                sums.advance();
                tma::store_wait(0); // the tile before this one has left `staged`
                self.staged.store(result);
                fence_async();
                tma::store(self.c, [row * bm, column * bn], self.staged);
            }
            tma::store_wait(0);
        }
    }

    /// `a` has the shape `[m, k]`, `b` `[n, k]`. A step along `k`, `BK`, is 128 bytes wide, as rows of the widest swizzle.
    #[kernel(target = sm_100f, warps = 4, cluster = [2, 1],
             grid = persistent(2 * cdiv(c.dim(0), 256) * cdiv(c.dim(1), BN)),
             instances((T, BN, BK, STAGES) = [(bf16, 128, 64, 6), (bf16, 256, 64, 4), (e4m3, 256, 128, 4)]))]
    pub fn matmul<T: Scalar, const BN: i32, const BK: i32, const STAGES: i32>(
        #[block(128, BK)] a: TensorMap<T, 2>,
        #[block(BN / 2, BK)] b: TensorMap<T, 2>,
        #[block(128, BN)] c: TensorMapMut<bf16, 2>,
    ) {
        let p = Gemm {
            a,
            b,
            c,
            a_bufs: shared([STAGES, 128, BK]),
            b_bufs: shared([STAGES, BN / 2, BK]),
            staged: shared([128, BN]),
            accs: tmem([2, 128, BN]),
            full: barriers(STAGES, 1),
            empty: barriers(STAGES, 1),
            done: barriers(2, 1),
            free: barriers(2, 2), // the readers of both blocks arrive
            tiles: Clustered::<Grouped<8>>::new(cdiv(c.dim(0), 128), cdiv(c.dim(1), BN)),
            depth: a.dim(1),
            bk: BK,
        };
        warp_specialize(
            || p.store(),
            [
                partition(1).registers(40).run(|| {
                    if cluster::rank() == 0 {
                        p.multiply();
                    }
                }),
                partition(1).registers(40).run(|| p.load()),
            ],
        );
    }
}

/// Runs an instance.
macro_rules! instance {
    ($table:ident, $stream:ident, $size:ident, $name:literal, $t:ty, $bn:literal, $bk:literal, $stages:literal) => {
        product::run::<$t, bf16>(
            &mut $table,
            &$stream,
            $size,
            [Major::K, Major::K],
            &[$name],
            |_, a, b, c| {
                let args = gemm::matmul::Args { a, b, c };
                gemm::matmul::<$t, $bn, $bk, $stages>(args).launch(&$stream)
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
        // Three rows of tiles: of the second pair, one block has rows below the matrix.
        None if device.is_emulator() => vec![[264, 320, 144]],
        None => vec![[8192, 8192, 8192], [4096, 4096, 4096], [1000, 1096, 528]],
    };
    let mut table = product::table();
    for size in sizes {
        instance!(table, stream, size, "bf16 256x128", bf16, 128, 64, 6);
        instance!(table, stream, size, "bf16 256x256", bf16, 256, 64, 4);
        // Rows of a tensor map begin at multiples of 16 bytes.
        if size[2].is_multiple_of(16) {
            instance!(table, stream, size, "e4m3 256x256", e4m3, 256, 128, 4);
        }
    }
    table.print();
    Ok(())
}
