//! Kernels for Hopper: a warp loads by TMA, and warpgroups multiply.

/// Persistent blocks: each computes tiles of `BM` by `BN` one after the other, while the next operands are loaded. A step is 128 numbers
/// along `k`.
#[kiln::kernel]
pub(crate) mod specialized {
    use kiln::{
        Ring,
        prelude::*,
        sched::{Grouped, Persistent, Schedule},
    };

    struct Product<T: Scalar, R: Cast> {
        a: TensorMap<T, 2>,
        b: TensorMap<T, 2>,
        a_scales: Tensor<f32, 2>,
        b_scales: Tensor<f32, 2>,
        c: TensorMapMut<R, 2>,
        lefts: Shared<T>,
        rights: Shared<T>,
        staged: Shared<R>,
        full: Barriers,
        empty: Barriers,
        tiles: Persistent<Grouped<16>>,
        /// Along `k`.
        steps: i32,
    }

    impl<T: Scalar, R: Cast> Product<T, R> {
        /// The product of a block, whose ring has `STAGES` pairs of operands.
        fn new<const BM: i32, const BN: i32, const STAGES: i32>(
            a: TensorMap<T, 2>,
            b: TensorMap<T, 2>,
            a_scales: Tensor<f32, 2>,
            b_scales: Tensor<f32, 2>,
            c: TensorMapMut<R, 2>,
        ) -> Product<T, R> {
            Product {
                a,
                b,
                a_scales,
                b_scales,
                c,
                lefts: shared([STAGES, BM, 128]),
                rights: shared([STAGES, BN, 128]),
                staged: shared([BM, BN]),
                full: barriers(STAGES, 1),
                empty: barriers(STAGES, 1),
                tiles: Persistent::<Grouped<16>>::new(cdiv(c.dim(0), BM), cdiv(c.dim(1), BN)),
                steps: cdiv(a.dim(1), 128),
            }
        }

        /// Fills the ring, tile after tile.
        fn load(&self) {
            let [bm, bn] = self.c.block();
            let mut ring = Ring::writer(self.full.len());
            for i in 0..self.tiles.count() {
                let (row, column) = self.tiles.tile(i);
                for step in range(0, self.steps, 1) {
                    let full = self.full[ring.slot];
                    self.empty[ring.slot].wait(ring.phase);
                    full.expect(self.a.block_bytes() + self.b.block_bytes());
                    tma::load(self.a, [row * bm, step * 128], full, self.lefts[ring.slot]);
                    tma::load(self.b, [column * bn, step * 128], full, self.rights[ring.slot]);
                    ring.advance();
                }
            }
        }

        /// The product of the next step, which is in flight.
        fn start(&self, ring: &mut Ring) -> Tile<f32> {
            self.full[ring.slot].wait(ring.phase);
            let (left, right) = (self.lefts[ring.slot], self.rights[ring.slot]);
            ring.advance();
            let [bm, bn] = self.c.block();
            wgmma::mma(left, right.t(), zeros::<f32>([bm, bn]))
        }

        /// Multiplies. A product keeps 14 bits of sums: those of each step are added in f32. Of four steps all but the last are added while
        /// the product of the next one is computed.
        fn multiply_float8<const BLOCKS: bool>(&self, scales: Scales) {
            let [bm, bn] = self.c.block();
            let mut ring = Ring::reader(self.full.len());
            let mut done = Ring::reader(self.full.len());
            let mut scaled = Ring::reader(scales.full.len());
            for i in 0..self.tiles.count() {
                let (row, column) = self.tiles.tile(i);
                let (m, n) = (row * bm, column * bn);
                let mut sums = zeros::<f32>([bm, bn]);
                let fours = self.steps / 4 * 4;
                for _ in range(0, fours, 4) {
                    let mut flying = self.start(&mut ring);
                    for step in unroll(0..4) {
                        let mut part = flying;
                        if step < 3 {
                            flying = self.start(&mut ring);
                            part = wgmma::wait(1, part);
                        } else {
                            part = wgmma::wait(0, part);
                        }
                        self.empty[done.slot].arrive();
                        done.advance();
                        if BLOCKS {
                            sums = fma(part, scales.of_step(&mut scaled, step, false), sums);
                        } else {
                            sums += part;
                        }
                    }
                }
                for step in range(0, self.steps - fours, 1) {
                    let part = wgmma::wait(0, self.start(&mut ring));
                    self.empty[done.slot].arrive();
                    done.advance();
                    if BLOCKS {
                        let last = step == self.steps - fours - 1;
                        sums = fma(part, scales.of_step(&mut scaled, step, last), sums);
                    } else {
                        sums += part;
                    }
                }
                if !BLOCKS {
                    sums = self.scaled(sums, [m, n]);
                }
                self.store(sums.cast::<R>(), [m, n]);
            }
            tma::store_wait(0);
        }

        /// Multiplies, with one product in flight during the wait for the operands of the next.
        fn multiply_int8<const SCALED: bool>(&self) {
            let [bm, bn] = self.c.block();
            let mut ring = Ring::reader(self.full.len());
            for i in 0..self.tiles.count() {
                let (row, column) = self.tiles.tile(i);
                let mut sums = zeros::<i32>([bm, bn]);
                let mut before = ring.slot;
                for step in range(0, self.steps, 1) {
                    self.full[ring.slot].wait(ring.phase);
                    let (left, right) = (self.lefts[ring.slot], self.rights[ring.slot]);
                    sums = wgmma::mma(left, right.t(), sums);
                    sums = wgmma::wait(1, sums);
                    if step > 0 {
                        self.empty[before].arrive();
                    }
                    before = ring.slot;
                    ring.advance();
                }
                sums = wgmma::wait(0, sums);
                self.empty[before].arrive();
                let at = [row * bm, column * bn];
                if SCALED {
                    self.store(self.scaled(sums.cast::<f32>(), at).cast::<R>(), at);
                } else {
                    self.store(sums.cast::<R>(), at);
                }
            }
            tma::store_wait(0);
        }

        /// Sums times the scales of their rows and columns.
        fn scaled(&self, sums: Tile<f32>, [m, n]: [i32; 2]) -> Tile<f32> {
            let [bm, bn] = self.c.block();
            let of_b = self.b_scales.tile([n, 0], [bn, 1]).load().reshape([1, bn]);
            sums * self.a_scales.tile([m, 0], [bm, 1]).load() * of_b
        }

        fn store(&self, tile: Tile<R>, at: [i32; 2]) {
            tma::store_wait(0); // the tile before this one has left `staged`
            self.staged.store(tile);
            fence_async();
            tma::store(self.c, at, self.staged);
        }
    }

    /// The scales of blocks, which a warp of their own brings to shared memory, four steps at a time: each row of them is another cache line,
    /// and warps that read them themselves would take the rate of shared memory that the tensor cores need, and registers.
    #[derive(Clone, Copy)]
    struct Scales {
        a: Tensor<f32, 2>,
        b: Tensor<f32, 2>,
        /// `[buffers, rows, 4]`, those of `a` times those of `b`.
        products: Shared<f32>,
        full: Barriers,
        empty: Barriers,
    }

    impl Scales {
        fn new<const BM: i32>(a: Tensor<f32, 2>, b: Tensor<f32, 2>) -> Scales {
            Scales {
                a,
                b,
                products: shared([4, BM, 4]),
                full: barriers(4, 1),
                empty: barriers(4, 1),
            }
        }

        /// Fills the ring for the tiles of a block, of `bn` columns and so many steps.
        fn load(self, tiles: Persistent<Grouped<16>>, bn: i32, steps: i32) {
            let mut ring = Ring::writer(self.full.len());
            for i in 0..tiles.count() {
                let (row, column) = tiles.tile(i);
                self.fill(&mut ring, [row * self.products.dim(1), column * bn], steps);
            }
        }

        /// Fills the ring with the scales of so many steps, of rows of `a` from `m` on and the square of `b` with row `n`.
        fn fill(self, ring: &mut Ring, [m, n]: [i32; 2], steps: i32) {
            let rows = self.products.dim(1);
            for step in range(0, steps, 4) {
                let of_a = self.a.tile([m, step], [rows, 4]).load();
                let of_b = self.b.tile([n / 128, step], [1, 4]).load();
                self.empty[ring.slot].wait(ring.phase);
                self.products[ring.slot].store(of_a * of_b);
                self.full[ring.slot].arrive();
                ring.advance();
            }
        }

        /// The scale of each row in step `i` of four, as a column; `last` says that no more of these come. Steps come in their order.
        fn of_step(self, ring: &mut Ring, i: i32, last: bool) -> Tile<f32> {
            if i == 0 {
                self.full[ring.slot].wait(ring.phase);
            }
            let rows = self.products.dim(1);
            let scales = self.products[ring.slot].tile([0, i], [rows, 1]).load();
            if i == 3 || last {
                self.empty[ring.slot].arrive();
                ring.advance();
            }
            scales
        }
    }

    /// FP8 with scales of blocks, or of rows.
    #[kernel(target = sm_90a, warps = W, grid = persistent(cdiv(c.dim(0), BM) * cdiv(c.dim(1), BN)),
             instances(R = [bf16], BLOCKS = [true, false], (BM, BN, STAGES, W) = [(64, 128, 6, 4), (128, 128, 5, 8)]))]
    pub fn float8<
        R: Float,
        const BLOCKS: bool,
        const BM: i32,
        const BN: i32,
        const STAGES: i32,
        const W: i32,
    >(
        #[block(BM, 128)] a: TensorMap<e4m3, 2>,
        #[block(BN, 128)] b: TensorMap<e4m3, 2>,
        a_scales: Tensor<f32, 2>,
        b_scales: Tensor<f32, 2>,
        #[block(BM, BN)] c: TensorMapMut<R, 2>,
    ) {
        let p = Product::new::<BM, BN, STAGES>(a, b, a_scales, b_scales, c);
        let scales = Scales::new::<BM>(a_scales, b_scales);
        if BLOCKS {
            warp_specialize(
                || p.multiply_float8::<BLOCKS>(scales),
                [
                    partition(1).registers(40).run(|| p.load()),
                    partition(1).registers(40).run(|| scales.load(p.tiles, BN, p.steps)),
                ],
            );
        } else {
            warp_specialize(
                || p.multiply_float8::<BLOCKS>(scales),
                [partition(1).registers(40).run(|| p.load())],
            );
        }
    }

    /// The operands of a tile of 128 rows of `b` and a few of `a`, and the ring through which they come.
    #[derive(Clone, Copy)]
    struct Few {
        a: TensorMap<e4m3, 2>,
        b: TensorMap<e4m3, 2>,
        rows: Shared<e4m3>,
        weights: Shared<e4m3>,
        full: Barriers,
        empty: Barriers,
        /// The first row of `b` in the tile, which has all rows of `a`.
        n: i32,
        /// Along `k`.
        steps: i32,
    }

    impl Few {
        fn load(self) {
            let mut ring = Ring::writer(self.full.len());
            for step in range(0, self.steps, 1) {
                let full = self.full[ring.slot];
                self.empty[ring.slot].wait(ring.phase);
                full.expect(self.a.block_bytes() + self.b.block_bytes());
                tma::load(self.b, [self.n, step * 128], full, self.weights[ring.slot]);
                tma::load(self.a, [0, step * 128], full, self.rows[ring.slot]);
                ring.advance();
            }
        }

        /// The sums of all steps; those of each step are added in f32.
        fn multiply<const BM: i32, const BLOCKS: bool>(self, scales: Scales) -> Tile<f32> {
            let mut ring = Ring::reader(self.full.len());
            let mut scaled = Ring::reader(scales.full.len());
            let mut sums = zeros::<f32>([128, BM]);
            for step in range(0, self.steps, 1) {
                self.full[ring.slot].wait(ring.phase);
                let (weights, rows) = (self.weights[ring.slot], self.rows[ring.slot]);
                let part = wgmma::wait(0, wgmma::mma(weights, rows.t(), zeros::<f32>([128, BM])));
                self.empty[ring.slot].arrive();
                ring.advance();
                if BLOCKS {
                    let last = step == self.steps - 1;
                    let scale = scales.of_step(&mut scaled, step % 4, last);
                    sums = fma(part, scale.reshape([1, BM]), sums);
                } else {
                    sums += part;
                }
            }
            sums
        }
    }

    /// FP8 with scales, for few rows of `a`: an instruction takes 64 rows of `b`, and as few as 16 of `a`. Two blocks share a multiprocessor.
    #[kernel(target = sm_90a, warps = 8, grid = cdiv(b.dim(0), 128),
             instances(R = [bf16], BLOCKS = [true, false], (BM, STAGES) = [(16, 5), (64, 3)]))]
    pub fn float8_of_few<R: Float, const BLOCKS: bool, const BM: i32, const STAGES: i32>(
        #[block(BM, 128)] a: TensorMap<e4m3, 2>,
        #[block(128, 128)] b: TensorMap<e4m3, 2>,
        a_scales: Tensor<f32, 2>,
        b_scales: Tensor<f32, 2>,
        c: TensorMut<R, 2>,
    ) {
        launch_dependents();
        let n = block_id(0) * 128;
        let operands = Few {
            a,
            b,
            rows: shared([STAGES, BM, 128]),
            weights: shared([STAGES, 128, 128]),
            full: barriers(STAGES, 1),
            empty: barriers(STAGES, 1),
            n,
            steps: cdiv(a.dim(1), 128),
        };
        let scales = Scales::new::<BM>(a_scales, b_scales);
        grid_dependency_wait();
        warp_specialize(
            || {
                let mut sums = operands.multiply::<BM, BLOCKS>(scales);
                if !BLOCKS {
                    let of_a = a_scales.tile([0, 0], [BM, 1]).load().reshape([1, BM]);
                    sums = sums * b_scales.tile([n, 0], [128, 1]).load() * of_a;
                }
                c.tile([0, n], [BM, 128]).store(sums.t().cast::<R>());
            },
            [
                partition(1).run(|| operands.load()),
                partition(1).run(|| {
                    if BLOCKS {
                        let mut ring = Ring::writer(scales.full.len());
                        scales.fill(&mut ring, [0, n], operands.steps);
                    }
                }),
            ],
        );
    }

    /// Sums of integers, exact but for the wrapping of i32. With `SCALED`, they are multiplied by scales of rows.
    #[kernel(target = sm_90a, warps = W, grid = persistent(cdiv(c.dim(0), BM) * cdiv(c.dim(1), BN)),
             instances((R, SCALED, BM, BN, STAGES, W) = [
                 (bf16, true, 64, 128, 6, 4), (bf16, true, 128, 256, 3, 8), (f16, true, 64, 128, 6, 4),
                 (f16, true, 128, 256, 3, 8), (f32, true, 64, 128, 5, 4), (f32, true, 128, 128, 5, 8),
                 (i32, false, 64, 128, 5, 4), (i32, false, 128, 128, 5, 8),
             ]))]
    pub fn int8<
        R: Cast,
        const SCALED: bool,
        const BM: i32,
        const BN: i32,
        const STAGES: i32,
        const W: i32,
    >(
        #[block(BM, 128)] a: TensorMap<i8, 2>,
        #[block(BN, 128)] b: TensorMap<i8, 2>,
        a_scales: Tensor<f32, 2>,
        b_scales: Tensor<f32, 2>,
        #[block(BM, BN)] c: TensorMapMut<R, 2>,
    ) {
        let p = Product::new::<BM, BN, STAGES>(a, b, a_scales, b_scales, c);
        warp_specialize(
            || p.multiply_int8::<SCALED>(),
            [partition(1).registers(40).run(|| p.load())],
        );
    }
}
