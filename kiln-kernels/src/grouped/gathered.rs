//! The kernel of rows that are gathered and scattered, for Hopper: four warps copy rows, two warpgroups multiply.

#[kiln::kernel]
pub(crate) mod kernels {
    use super::super::{
        ring::items::{Operands, stage},
        tiles::items::{Epilogue, Lists, Scales, Walk},
    };
    use kiln::{Ring, prelude::*};

    /// How many warps gather rows, and scatter them.
    const WARPS: i32 = 4;

    struct Product<T: Scalar, U: Scalar, R: Float> {
        a: Tensor<T, 2>,
        b: TensorMap<U, 3>,
        offsets: Tensor<i32, 1>,
        c: TensorMut<R, 2>,
        lists: Lists,
        rows: i32,
        epilogue: Epilogue<R>,
        operands: Operands<T, U>,
        staged: Shared<R>,
        /// `staged` has the rows of a tile, and they have been scattered.
        filled: Barrier,
        scattered: Barrier,
    }

    impl<T: Scalar, U: Scalar, R: Float> Product<T, U, R> {
        /// The part of a warp, number `Q`: it gathers as many rows of `a` as the other warps, and scatters as many rows of `c`.
        ///
        /// While the rows of a step are in flight it starts the copies of the next step; then it signals that they are there. The rows of a
        /// tile are scattered after the first `STAGES` steps of the next tile, some of them after each step, so that the tensor cores stay
        /// busy meanwhile.
        fn gather<
            const BM: i32,
            const BN: i32,
            const STAGES: i32,
            const ALONG_K: bool,
            const Q: i32,
        >(
            &self,
        ) {
            let (lefts, rights) = (self.operands.lefts, self.operands.rights);
            let (full, empty) = (self.operands.full, self.operands.empty);
            let wide = 128 / T::BYTES; // what a step has along `k`
            let (columns, depth) = (cdiv(self.c.dim(1), BN), cdiv(self.a.dim(1), wide));
            let height = BM / WARPS;
            // Rows that are scattered at a time: 4 KB of them.
            let part = height.min(2048 / BN);
            let parts = height / part;
            let mut walk = Walk::new(self.offsets, self.b.dim(0), self.rows);
            let mut ring = Ring::writer(STAGES);
            let mut before = -1;
            // The tile that has not been scattered, and where its rows end.
            let (mut waits, mut from, mut end, mut at) = (false, 0, 0, 0);
            let mut phase = 0;
            let mut tile = block_id(0);
            let mut more = walk.seek(tile, BM, columns);
            while more || waits {
                let (mut steps, mut first, mut column) = (0, 0, 0);
                if more {
                    let (row, place) = walk.place(tile, BM, columns);
                    first = walk.begin + row * BM + Q * height;
                    column = place * BN;
                    steps = depth;
                } else {
                    copy_async_wait(0);
                    fence_async();
                    full[before].arrive();
                }
                let rows = self.lists.sources(first, height);
                for step in range(0, steps.max(STAGES + parts), 1) {
                    if step < steps {
                        let (k, i) = (step * wide, walk.expert);
                        empty[ring.slot].wait(ring.phase);
                        if Q == 0 {
                            full[ring.slot].expect(self.b.block_bytes());
                            let at = if ALONG_K { [i, column, k] } else { [i, k, column] };
                            tma::load(self.b, at, full[ring.slot], rights[ring.slot]);
                        }
                        let to = lefts[ring.slot].tile([Q * height, 0], [height, wide]);
                        copy_async(self.a.tile_rows(rows, [0, k], [height, wide]), to);
                        copy_async_commit();
                        if before >= 0 {
                            copy_async_wait(1);
                            fence_async();
                            full[before].arrive();
                        }
                        before = ring.slot;
                        ring.advance();
                    }
                    let now = step - STAGES;
                    if waits && now >= 0 && now < parts {
                        if now == 0 {
                            self.filled.wait(phase);
                            phase ^= 1;
                        }
                        let to = self.lists.targets(from + now * part, end, part);
                        let staged = self.staged.tile([Q * height + now * part, 0], [part, BN]);
                        self.c.tile_rows(to, [0, at], [part, BN]).store(staged.load());
                        if now == parts - 1 {
                            self.scattered.arrive();
                        }
                    }
                }
                (waits, from, end, at) = (more, first, walk.end, column);
                if more {
                    tile += num_blocks(0);
                    more = walk.seek(tile, BM, columns);
                }
            }
        }

        /// Multiplies, and leaves rows to the other warps.
        fn multiply<const BM: i32, const BN: i32, const SWAP: bool, const ALONG_K: bool>(&self) {
            let (columns, depth) = (cdiv(self.c.dim(1), BN), cdiv(self.a.dim(1), 64));
            let mut walk = Walk::new(self.offsets, self.b.dim(0), self.rows);
            let mut ring = Ring::reader(self.operands.full.len());
            let mut phase = 1;
            let mut tile = block_id(0);
            while walk.seek(tile, BM, columns) {
                let (row, column) = walk.place(tile, BM, columns);
                let (row, column) = (walk.begin + row * BM, column * BN);
                let acc =
                    self.operands.multiply::<1, BM, BN, true, ALONG_K, SWAP>(&mut ring, depth);
                self.scattered.wait(phase); // the tile before this one has left `staged`
                phase ^= 1;
                stage::<R, SWAP>(self.epilogue, acc, [walk.expert, row, column], self.staged);
                self.filled.arrive();
                tile += num_blocks(0);
            }
        }

        /// The same of FP8 numbers with scales.
        fn multiply_float8<const BM: i32, const BN: i32, const SWAP: bool>(&self, scales: Scales) {
            let (columns, depth) = (cdiv(self.c.dim(1), BN), cdiv(self.a.dim(1), 128));
            let mut walk = Walk::new(self.offsets, self.b.dim(0), self.rows);
            let mut ring = Ring::reader(self.operands.full.len());
            let mut phase = 1;
            let mut tile = block_id(0);
            while walk.seek(tile, BM, columns) {
                let (row, column) = walk.place(tile, BM, columns);
                let (row, column) = (walk.begin + row * BM, column * BN);
                let sums = self.operands.multiply_float8::<BM, BN, SWAP>(&mut ring, depth);
                let of_rows = scales.of_sources(self.lists.sources(row, BM));
                let sums = scales.apply::<SWAP>(sums, of_rows, [walk.expert, column]);
                self.scattered.wait(phase); // the tile before this one has left `staged`
                phase ^= 1;
                stage::<R, SWAP>(self.epilogue, sums, [walk.expert, row, column], self.staged);
                self.filled.arrive();
                tile += num_blocks(0);
            }
        }
    }

    /// Persistent blocks compute tiles of `BM` rows of an expert and `BN` columns. `SWAP` and `ALONG_K` are those of
    /// `specialized::product`; there are as many as `rows`.
    #[kernel(target = sm_90a, warps = 8, grid = blocks,
             instances(T = [bf16, f16], (BM, BN, STAGES, SWAP) = [(16, 128, 8, true), (128, 64, 6, false), (128, 256, 3, false)], ALONG_K = [true, false]))]
    pub fn product<
        T: Float,
        const BM: i32,
        const BN: i32,
        const STAGES: i32,
        const SWAP: bool,
        const ALONG_K: bool,
    >(
        a: Tensor<T, 2>,
        #[block(1, if ALONG_K { BN } else { 64 }, if ALONG_K { 64 } else { BN })] b: TensorMap<
            T,
            3,
        >,
        offsets: Tensor<i32, 1>,
        c: TensorMut<T, 2>,
        gather: Tensor<i32, 1>,
        scatter: Tensor<i32, 1>,
        rows: i32,
        blocks: i32,
        scale: f32,
        bias: Tensor<T, 2>,
        activation: i32,
        weights: Tensor<f32, 1>,
    ) {
        launch_dependents();
        let p = Product {
            a,
            b,
            offsets,
            c,
            lists: Lists { gather, scatter },
            rows,
            epilogue: Epilogue { scale, bias, activation, weights },
            operands: Operands {
                lefts: shared::<T>([STAGES, BM, 64]),
                rights: if ALONG_K {
                    shared::<T>([STAGES, BN, 64])
                } else {
                    shared::<T>([STAGES, 64, BN])
                },
                full: barriers(STAGES, 1 + WARPS), // the weights, and the rows of each warp
                empty: barriers(STAGES, 1),
            },
            // Pieces of 16 bytes are contiguous, whatever the strides of `c` are.
            staged: shared::<T>([BM, BN]).with_layout(swizzled(8, 1, 8, [1, 0])),
            filled: barrier(1),
            scattered: barrier(WARPS),
        };
        grid_dependency_wait();
        warp_specialize(
            || p.multiply::<BM, BN, SWAP, ALONG_K>(),
            [
                partition(1).registers(104).run(|| p.gather::<BM, BN, STAGES, ALONG_K, 0>()),
                partition(1).registers(104).run(|| p.gather::<BM, BN, STAGES, ALONG_K, 1>()),
                partition(1).registers(104).run(|| p.gather::<BM, BN, STAGES, ALONG_K, 2>()),
                partition(1).registers(104).run(|| p.gather::<BM, BN, STAGES, ALONG_K, 3>()),
            ],
        );
    }

    /// The same of FP8 numbers, with scales of rows.
    #[kernel(target = sm_90a, warps = 8, grid = blocks,
             instances((T, BM, BN, STAGES, SWAP) = [
                 (e4m3, 16, 128, 8, true), (e4m3, 128, 64, 6, false), (e4m3, 128, 128, 5, false), (e5m2, 128, 128, 5, false),
             ], U = [e4m3], R = [bf16]))]
    pub fn float8<
        T: Scalar,
        U: Scalar,
        R: Float,
        const BM: i32,
        const BN: i32,
        const STAGES: i32,
        const SWAP: bool,
    >(
        a: Tensor<T, 2>,
        #[block(1, BN, 128)] b: TensorMap<U, 3>,
        a_scales: Tensor<f32, 2>,
        b_scales: Tensor<f32, 3>,
        offsets: Tensor<i32, 1>,
        c: TensorMut<R, 2>,
        gather: Tensor<i32, 1>,
        scatter: Tensor<i32, 1>,
        rows: i32,
        blocks: i32,
        scale: f32,
        bias: Tensor<R, 2>,
        activation: i32,
        weights: Tensor<f32, 1>,
    ) {
        launch_dependents();
        let p = Product {
            a,
            b,
            offsets,
            c,
            lists: Lists { gather, scatter },
            rows,
            epilogue: Epilogue { scale, bias, activation, weights },
            operands: Operands {
                lefts: shared::<T>([STAGES, BM, 128]),
                rights: shared::<U>([STAGES, BN, 128]),
                full: barriers(STAGES, 1 + WARPS), // the weights, and the rows of each warp
                empty: barriers(STAGES, 1),
            },
            // Pieces of 16 bytes are contiguous, whatever the strides of `c` are.
            staged: shared::<R>([BM, BN]).with_layout(swizzled(8, 1, 8, [1, 0])),
            filled: barrier(1),
            scattered: barrier(WARPS),
        };
        grid_dependency_wait();
        warp_specialize(
            || p.multiply_float8::<BM, BN, SWAP>(Scales { a: a_scales, b: b_scales }),
            [
                partition(1).registers(104).run(|| p.gather::<BM, BN, STAGES, true, 0>()),
                partition(1).registers(104).run(|| p.gather::<BM, BN, STAGES, true, 1>()),
                partition(1).registers(104).run(|| p.gather::<BM, BN, STAGES, true, 2>()),
                partition(1).registers(104).run(|| p.gather::<BM, BN, STAGES, true, 3>()),
            ],
        );
    }
}
