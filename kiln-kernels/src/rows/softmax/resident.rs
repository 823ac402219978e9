//! The kernels of softmax that keep a row in shared memory, of one block or of the blocks of a cluster.

pub(super) use kernels::{long, long_gradient, spread, spread_gradient};

#[kiln::kernel]
mod kernels {
    use kiln::prelude::*;

    use crate::rows::running::grown;

    /// The part of a row that a block has: `P` parts of `N` columns from `first` on.
    struct Part<T: Float, const N: i32, const P: i32> {
        x: Tensor<T, 2>,
        y: TensorMut<T, 2>,
        row: i32,
        first: i32,
        parts: Shared<T>,
    }

    impl<T: Float, const N: i32, const P: i32> Part<T, N, P> {
        /// Starts all copies.
        fn fetch(&self) {
            for i in unroll(0..P) {
                copy_async(self.x.tile([self.row, self.first + i * N], [1, N]), self.parts[i]);
                copy_async_commit();
            }
        }

        /// The maximum, and the sum of powers below it. It keeps both for every `G` adjacent columns of a part, which one thread holds,
        /// while the next parts arrive.
        fn top_and_sum<const G: i32>(&self) -> (f32, f32) {
            let mut tops = full::<f32>([N / G], f32::MIN);
            let mut sums = zeros::<f32>([N / G]);
            for i in unroll(0..P) {
                copy_async_wait(P - 1 - i); // the first i + 1 parts are there
                sync();
                let mut v = self.parts[i].load().cast::<f32>();
                let from = self.first + i * N;
                if from + N > self.x.dim(1) {
                    let inside = (from + arange(0, N)).lt(self.x.dim(1)).expand(0);
                    v = select(inside, v, f32::NEG_INFINITY);
                }
                (tops, sums) = grown(tops, sums, v.reshape([N / G, G]));
            }
            let top = tops.max(0).item();
            (top, (sums * (tops - top).exp_approx()).sum(0).item())
        }

        /// The rounding of elements of 2 bytes, of which `G` is 8, is far more than what approximate powers are off by.
        fn store<const G: i32, const LOG: bool>(&self, top: f32, sum: f32) {
            let (scale, ln) = (sum.recip(), sum.ln());
            for i in unroll(0..P) {
                let shifted = self.parts[i].load().cast::<f32>() - top;
                let result = if LOG {
                    shifted - ln
                } else if G == 8 {
                    shifted.exp_approx() * scale
                } else {
                    shifted.exp() * scale
                };
                self.y.tile([self.row, self.first + i * N], [1, N]).store(result.cast::<T>());
            }
        }
    }

    /// One block a row.
    #[kernel(target = sm_80, warps = W, grid = x.dim(0),
             instances((T, G, N, P, W) = [(bf16, 8, 4096, 8, 8), (bf16, 8, 16384, 4, 32), (f16, 8, 4096, 8, 8), (f16, 8, 16384, 4, 32),
                                          (f32, 4, 8192, 4, 16)],
                       LOG = [false, true]))]
    pub fn long<
        T: Float,
        const G: i32,
        const N: i32,
        const P: i32,
        const W: i32,
        const LOG: bool,
    >(
        x: Tensor<T, 2>,
        y: TensorMut<T, 2>,
    ) {
        let part = Part::<T, N, P> { x, y, row: block_id(0), first: 0, parts: shared([P, 1, N]) };
        part.fetch();
        let (top, sum) = part.top_and_sum::<G>();
        part.store::<G, LOG>(top, sum);
    }

    /// One cluster of `C` blocks a row, which tell each other maximum and sum of their parts.
    #[kernel(target = sm_90a, warps = 8, cluster = C, grid = C * x.dim(0),
             instances((T, G, N, C, P) = [(bf16, 8, 4096, 4, 8), (f16, 8, 4096, 4, 8),
                                          (f32, 4, 4096, 4, 4), (f32, 4, 4096, 8, 4)],
                       LOG = [false, true]))]
    pub fn spread<
        T: Float,
        const G: i32,
        const N: i32,
        const C: i32,
        const P: i32,
        const LOG: bool,
    >(
        x: Tensor<T, 2>,
        y: TensorMut<T, 2>,
    ) {
        let (row, first) = (block_id(0) / C, cluster::rank() * (P * N));
        let part = Part::<T, N, P> { x, y, row, first, parts: shared([P, 1, N]) };
        part.fetch();
        let (top, sum) = part.top_and_sum::<G>();
        let of_block = shared::<f32>([2, 1]);
        of_block[0].store(full([1], top));
        of_block[1].store(full([1], sum));
        cluster::sync();
        let mut top = f32::MIN;
        for other in unroll(0..C) {
            top = top.max(of_block.of_block(other)[0].load().item());
        }
        let mut sum = 0.0;
        for other in unroll(0..C) {
            let there = of_block.of_block(other);
            sum += (there[1].load() * (there[0].load() - top).exp_approx()).item();
        }
        part.store::<G, LOG>(top, sum);
    }

    /// The part of a row and of its gradient that a block has: `P` parts of `N` columns from `first` on.
    struct Gradient<T: Float, const N: i32, const P: i32, const LOG: bool> {
        y: Tensor<T, 2>,
        dy: Tensor<T, 2>,
        dx: TensorMut<T, 2>,
        row: i32,
        first: i32,
        ys: Shared<T>,
        gs: Shared<T>,
    }

    impl<T: Float, const N: i32, const P: i32, const LOG: bool> Gradient<T, N, P, LOG> {
        fn sum(&self) -> f32 {
            for i in unroll(0..P) {
                let at = [self.row, self.first + i * N];
                copy_async(self.y.tile(at, [1, N]), self.ys[i]); // zero outside the row
                copy_async(self.dy.tile(at, [1, N]), self.gs[i]);
                copy_async_commit();
            }
            let mut sums = zeros::<f32>([1, N]);
            for i in unroll(0..P) {
                copy_async_wait(P - 1 - i); // the first i + 1 parts are there
                sync();
                let g = self.gs[i].load().cast::<f32>();
                sums += if LOG { g } else { g * self.ys[i].load().cast::<f32>() };
            }
            sums.sum(1).item()
        }

        fn store(&self, sum: f32) {
            for i in unroll(0..P) {
                let (v, g) = (self.ys[i].load().cast::<f32>(), self.gs[i].load().cast::<f32>());
                let result = if LOG { g - v.exp() * sum } else { v * (g - sum) };
                self.dx.tile([self.row, self.first + i * N], [1, N]).store(result.cast::<T>());
            }
        }
    }

    /// One block a row.
    #[kernel(target = sm_80, warps = W, grid = y.dim(0),
             instances((T, N, P, W) = [(bf16, 4096, 4, 8), (bf16, 4096, 8, 16), (f16, 4096, 4, 8), (f16, 4096, 8, 16),
                                       (f32, 4096, 4, 16)],
                       LOG = [false, true]))]
    pub fn long_gradient<T: Float, const N: i32, const P: i32, const W: i32, const LOG: bool>(
        y: Tensor<T, 2>,
        dy: Tensor<T, 2>,
        dx: TensorMut<T, 2>,
    ) {
        let (ys, gs) = (shared::<T>([P, 1, N]), shared::<T>([P, 1, N]));
        let gradient = Gradient::<T, N, P, LOG> { y, dy, dx, row: block_id(0), first: 0, ys, gs };
        gradient.store(gradient.sum());
    }

    /// One cluster of `C` blocks a row, which tell each other their sums.
    #[kernel(target = sm_90a, warps = 8, cluster = C, grid = C * y.dim(0),
             instances((T, C) = [(bf16, 4), (bf16, 8), (f16, 4), (f16, 8), (f32, 8)],
                       N = [4096], P = [4], LOG = [false, true]))]
    pub fn spread_gradient<T: Float, const C: i32, const N: i32, const P: i32, const LOG: bool>(
        y: Tensor<T, 2>,
        dy: Tensor<T, 2>,
        dx: TensorMut<T, 2>,
    ) {
        let (row, first) = (block_id(0) / C, cluster::rank() * (P * N));
        let (ys, gs) = (shared::<T>([P, 1, N]), shared::<T>([P, 1, N]));
        let gradient = Gradient::<T, N, P, LOG> { y, dy, dx, row, first, ys, gs };
        let of_block = shared::<f32>([1]);
        of_block.store(full([1], gradient.sum()));
        cluster::sync();
        let mut sum = 0.0;
        for other in unroll(0..C) {
            sum += of_block.of_block(other).load().item();
        }
        gradient.store(sum);
    }
}
