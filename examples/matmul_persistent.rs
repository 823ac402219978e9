//! c = a · b on Hopper with persistent blocks: each takes tile after tile from a schedule, and loads the next operands
//! while it stores the previous tile.
//!
//! `cargo run --release --example matmul_persistent [-- M N K | --large]`
//!
//! The schedule is a type, `S: Schedule`, which decides the order of the tiles and the block for each. In clusters of
//! two, blocks compute tiles below one another, and one multicast copy loads the tile of `b` for both. Every instance
//! is checked against a product computed on the host, and timed on a GPU.

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

/// Two warpgroups multiply and store, one warp loads.
#[kiln::kernel]
pub mod gemm {
    use kiln::prelude::*;
    use kiln::{
        Ring,
        sched::{Clustered, Grouped, Linear, Persistent, Schedule},
    };

    /// The left and the right halves of the columns: no element changes its thread.
    fn halves(tile: Tile<bf16>) -> (Tile<bf16>, Tile<bf16>) {
        tile.reshape([tile.dim(0), 2, tile.dim(1) / 2]).permute([0, 2, 1]).split()
    }

    struct Gemm<S: Schedule> {
        a: TensorMap<bf16, 2>,
        b: TensorMap<bf16, 2>,
        c: TensorMapMut<bf16, 2>,
        a_bufs: Shared<bf16>,
        b_bufs: Shared<bf16>,
        /// Two tiles of half the columns: one is filled while the other is stored.
        staged: Shared<bf16>,
        full: Barriers,
        empty: Barriers,
        tiles: S,
        depth: i32,
    }

    impl<S: Schedule> Gemm<S> {
        // ANCHOR: load
        /// Fills the buffers, tile after tile, and does not wait until a tile is stored, only until buffers are empty.
        fn load<const C: i32>(&self) {
            let ([bm, bk], [_, bn]) = (self.a.block(), self.b.block());
            let mut ring = Ring::writer(self.full.len());
            for i in 0..self.tiles.count() {
                let (row, column) = self.tiles.tile(i);
                for k in range(0, self.depth, bk) {
                    let (full, b_buf) = (self.full[ring.slot], self.b_bufs[ring.slot]);
                    self.empty[ring.slot].wait(ring.phase);
                    full.expect(self.a.block_bytes() + self.b.block_bytes());
                    tma::load(self.a, [row * bm, k], full, self.a_bufs[ring.slot]);
                    if C == 1 {
                        tma::load(self.b, [k, column * bn], full, b_buf);
                    } else {
                        // The first block loads for all: the bytes count on the barrier of each.
                        tma::load(self.b, [k, column * bn], full, b_buf)
                            .when(cluster::rank() == 0)
                            .multicast((1 << C) - 1);
                    }
                    ring.advance();
                }
            }
        }

        /// Signals that a buffer is empty to the blocks that fill it: with clusters, all blocks of the cluster.
        fn release<const C: i32>(&self, slot: i32) {
            if C == 1 {
                self.empty[slot].arrive();
            } else {
                for rank in unroll(0..C) {
                    self.empty[slot].of_block(rank).arrive();
                }
            }
        }
        // ANCHOR_END: load

        /// Multiplies, with one product in flight during the wait for the operands of the next, and stores.
        fn multiply<const C: i32>(&self) {
            let ([bm, bk], [_, bn]) = (self.a.block(), self.b.block());
            let mut ring = Ring::reader(self.full.len());
            for i in 0..self.tiles.count() {
                let (row, column) = self.tiles.tile(i);
                let mut acc = zeros::<f32>([bm, bn]);
                let mut before = ring.slot;
                for k in range(0, self.depth, bk) {
                    self.full[ring.slot].wait(ring.phase);
                    acc = wgmma::mma(self.a_bufs[ring.slot], self.b_bufs[ring.slot], acc);
                    acc = wgmma::wait(1, acc);
                    if k > 0 {
                        self.release::<C>(before);
                    }
                    before = ring.slot;
                    ring.advance();
                }
                acc = wgmma::wait(0, acc);
                self.release::<C>(before);
                let (left, right) = halves(acc.cast::<bf16>());
                self.store(left, self.staged[0], [row * bm, column * bn]);
                self.store(right, self.staged[1], [row * bm, column * bn + bn / 2]);
            }
            tma::store_wait(0);
        }

        /// Starts to store a part of a tile.
        fn store(&self, part: Tile<bf16>, staged: Shared<bf16>, at: [i32; 2]) {
            tma::store_wait(1); // the part before the last has left `staged`
            staged.store(part);
            fence_async();
            tma::store(self.c, at, staged);
        }
    }

    /// `C` blocks of a cluster share the columns of `b`.
    #[kernel(target = sm_90a, warps = 8, grid = persistent(C * cdiv(cdiv(c.dim(0), 128), C) * cdiv(c.dim(1), BN)), cluster = [C, 1],
             instances((S, C) = [
                 (Persistent<Linear>, 1), (Persistent<Grouped<16>>, 1), (Clustered<Linear>, 2), (Clustered<Grouped<8>>, 2),
             ], (BN, STAGES) = [(256, 3)]))]
    pub fn matmul<S: Schedule, const C: i32, const BN: i32, const STAGES: i32>(
        #[block(128, 64)] a: TensorMap<bf16, 2>,
        #[block(64, BN)] b: TensorMap<bf16, 2>,
        #[block(128, BN / 2)] c: TensorMapMut<bf16, 2>,
    ) {
        let p = Gemm::<S> {
            a,
            b,
            c,
            a_bufs: shared([STAGES, 128, 64]),
            b_bufs: shared([STAGES, 64, BN]),
            staged: shared([2, 128, BN / 2]),
            full: barriers(STAGES, 1),
            empty: barriers(STAGES, C), // the readers of each block arrive
            tiles: S::new(cdiv(c.dim(0), 128), cdiv(c.dim(1), BN)),
            depth: a.dim(1),
        };
        warp_specialize(|| p.multiply::<C>(), [partition(1).registers(40).run(|| p.load::<C>())]);
        if C > 1 {
            cluster::sync(); // until then other blocks arrive at this one's barriers
        }
    }
}

fn main() -> Result<()> {
    let device = Device::best_for(gemm::matmul::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<3>() {
        Some([m, n, k]) => vec![[m, n, k]],
        // Three rows of tiles: no multiple of a cluster.
        None if device.is_emulator() => vec![[264, 520, 136]],
        None => vec![[8192, 8192, 8192], [4096, 4096, 4096], [1000, 1096, 520]],
    };
    let instances: Vec<_> = gemm::matmul::instances().collect();
    let names: Vec<String> = instances.iter().map(|one| one.S.to_string()).collect();
    let mut table = product::table();
    for size in sizes {
        product::run::<bf16, bf16>(
            &mut table,
            &stream,
            size,
            [Major::K, Major::Mn],
            &names,
            |at, a, b, c| {
                let launch = instances[at].with(gemm::matmul::Args { a, b, c });
                // The emulator has room for more blocks than there are tiles: with four of them, they take turns.
                if device.is_emulator() { launch.grid(4) } else { launch }.launch(&stream)
            },
        )?;
    }
    table.print();
    Ok(())
}
