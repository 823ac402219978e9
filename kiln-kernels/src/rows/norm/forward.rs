//! The kernels of norms.

#![expect(clippy::cast_precision_loss, reason = "a number of columns may be rounded")]

pub(super) use kernels::{AddedArgs, OperandsArgs, long_norm, norm, spread_norm, wide_norm};

#[kiln::kernel]
mod kernels {
    use kiln::prelude::*;

    /// What is added to rows before they are normalised, and where the sum goes.
    #[derive(Clone, Copy)]
    pub(in crate::rows) struct Added<T> {
        residual: Tensor<T, 2>,
        sum: TensorMut<T, 2>,
    }

    /// What a norm reads and writes.
    #[derive(Clone, Copy)]
    pub(in crate::rows) struct Operands<T> {
        x: Tensor<T, 2>,
        added: Option<Added<T>>,
        weight: Tensor<T, 1>,
        bias: Option<Tensor<T, 1>>,
        eps: f32,
        y: TensorMut<T, 2>,
    }

    /// `R` rows a block, each of which fits `N` columns. Layer norm is `CENTRED`, RMS norm is not.
    ///
    /// Of `x + residual` it is the rounded sum that is stored and normalised. Weight and bias are loaded before it is stored, because `ptxas`
    /// moves no load of global memory over a store; where nothing is stored they are loaded late, and take no registers before.
    #[kernel(target = sm_80, warps = W, grid = cdiv(of.x.dim(0), R),
             instances(T = [bf16, f16, f32], CENTRED = [false, true],
                       (R, N, W) = [(32, 64, 4), (8, 256, 4), (4, 1024, 4), (2, 2048, 4), (1, 4096, 4), (1, 8192, 8)]))]
    pub fn norm<T: Float, const CENTRED: bool, const R: i32, const N: i32, const W: i32>(
        of: Operands<T>,
    ) {
        let row = block_id(0) * R;
        let count = of.x.dim(1) as f32;
        let mut v = of.x.tile([row, 0], [R, N]).load(); // zero outside the row
        if let Some(added) = of.added {
            let other = added.residual.tile([row, 0], [R, N]).load();
            v = (v.cast::<f32>() + other.cast::<f32>()).cast::<T>();
        }
        let (mut w, mut b) = (zeros::<T>([N]), zeros::<T>([N]));
        if of.added.is_some() {
            w = of.weight.tile([0], [N]).load();
            if let Some(bias) = of.bias {
                b = bias.tile([0], [N]).load();
            }
        }
        if let Some(added) = of.added {
            added.sum.tile([row, 0], [R, N]).store(v);
        }
        let mut v = v.cast::<f32>();
        if CENTRED {
            let mean = (v.sum(1) / count).expand(1);
            let inside = arange(0, N).lt(of.x.dim(1)).expand(0); // after the sum: 32 of them would take registers before
            v = select(inside, v - mean, 0.0);
        }
        let variance = (v * v).sum(1) / count;
        let scale = (variance + of.eps).rsqrt().expand(1);
        if of.added.is_none() {
            w = of.weight.tile([0], [N]).load();
            if let Some(bias) = of.bias {
                b = bias.tile([0], [N]).load();
            }
        }
        let (w, b) = (w.cast::<f32>().expand(0), b.cast::<f32>().expand(0));
        of.y.tile([row, 0], [R, N]).store((v * scale * w + b).cast::<T>());
    }

    /// The part of a row that a block keeps in shared memory: `P` parts of `N` columns from `first` on.
    struct Part<T: Float, const N: i32, const P: i32> {
        of: Operands<T>,
        row: i32,
        first: i32,
        parts: Shared<T>,
    }

    impl<T: Float, const N: i32, const P: i32> Part<T, N, P> {
        fn columns(&self, i: i32) -> i32 {
            self.first + i * N
        }

        /// All parts are in flight at once, unless they are sums, of which a part is loaded while the one before it is stored.
        fn fetch(&self) {
            if let Some(added) = self.of.added {
                let mut v = self.of.x.tile([self.row, self.columns(0)], [1, N]).load(); // zero outside the row
                let mut other = added.residual.tile([self.row, self.columns(0)], [1, N]).load();
                for i in unroll(0..P) {
                    let sum = (v.cast::<f32>() + other.cast::<f32>()).cast::<T>();
                    if i + 1 < P {
                        let next = [self.row, self.columns(i + 1)];
                        v = self.of.x.tile(next, [1, N]).load();
                        other = added.residual.tile(next, [1, N]).load();
                    }
                    self.parts[i].store(sum);
                    added.sum.tile([self.row, self.columns(i)], [1, N]).store(sum);
                }
                sync();
            } else {
                for i in unroll(0..P) {
                    // Zero outside the row.
                    copy_async(self.of.x.tile([self.row, self.columns(i)], [1, N]), self.parts[i]);
                    copy_async_commit();
                }
            }
        }

        fn weight(&self, i: i32) -> Tile<T> {
            self.of.weight.tile([self.columns(i)], [N]).load()
        }

        fn bias(&self, i: i32) -> Tile<T> {
            match self.of.bias {
                Some(bias) => bias.tile([self.columns(i)], [N]).load(),
                None => zeros::<T>([N]),
            }
        }

        /// Waits until the first `i + 1` parts are there.
        fn wait(&self, i: i32) {
            if self.of.added.is_none() {
                copy_async_wait(P - 1 - i);
                sync();
            }
        }

        /// The distances of a part from `near`, 0 outside the row.
        fn distances(&self, i: i32, near: f32) -> Tile<f32> {
            let mut v = self.parts[i].load().cast::<f32>() - near;
            if self.columns(i) + N > self.of.x.dim(1) {
                let inside = (self.columns(i) + arange(0, N)).lt(self.of.x.dim(1)).expand(0);
                v = select(inside, v, 0.0);
            }
            v
        }

        /// The mean of a row of one block, and the mean of the squares of distances from it.
        ///
        /// Sums are those of distances from the mean of the first part, while the next ones arrive. The mean of squares is theirs less the
        /// square of the mean distance, which is at most `P` times the result: little cancels. There is a sum for every 4 adjacent columns of a
        /// part, which one thread holds.
        fn mean_and_variance(&self) -> (f32, f32) {
            let count = self.of.x.dim(1) as f32;
            let (mut distances, mut squares) = (zeros::<f32>([N / 4]), zeros::<f32>([N / 4]));
            self.wait(0);
            let near = self.parts[0].load().cast::<f32>().sum(1).item() / count.min(N as f32);
            for i in unroll(0..P) {
                if i > 0 {
                    self.wait(i);
                }
                let v = self.distances(i, near).reshape([N / 4, 4]);
                distances += v.sum(1);
                squares += (v * v).sum(1);
            }
            let (distance, square) = join(distances, squares).sum(0).split();
            let (distance, square) = (distance.item() / count, square.item() / count);
            (near + distance, square - distance * distance)
        }

        /// The sum of the elements, or of their squares, as they arrive.
        fn sum<const CENTRED: bool>(&self) -> f32 {
            let mut sums = zeros::<f32>([1, N]);
            for i in unroll(0..P) {
                self.wait(i);
                let v = self.parts[i].load().cast::<f32>();
                sums += if CENTRED { v } else { v * v };
            }
            sums.sum(1).item()
        }

        /// The sum of the squares of distances from the mean.
        fn squares(&self, mean: f32) -> f32 {
            let mut sums = zeros::<f32>([1, N]);
            for i in unroll(0..P) {
                let centred = self.distances(i, mean);
                sums += centred * centred;
            }
            sums.sum(1).item()
        }

        /// Weight and bias of a part, the first of which are given, are loaded before the part ahead of it is stored.
        fn store(&self, mean: f32, scale: f32, weight: Tile<T>, bias: Tile<T>) {
            let (mut w, mut b) = (weight, bias);
            for i in unroll(0..P) {
                let centred = self.parts[i].load().cast::<f32>() - mean;
                let result =
                    centred * scale * w.cast::<f32>().expand(0) + b.cast::<f32>().expand(0);
                if i + 1 < P {
                    w = self.weight(i + 1);
                    b = self.bias(i + 1);
                }
                self.of.y.tile([self.row, self.columns(i)], [1, N]).store(result.cast::<T>());
            }
        }
    }

    /// One block a row.
    #[kernel(target = sm_80, warps = W, grid = of.x.dim(0),
             instances((T, N, P, W) = [(bf16, 4096, 4, 8), (bf16, 4096, 8, 8), (bf16, 16384, 4, 32),
                                       (f16, 4096, 4, 8), (f16, 4096, 8, 8), (f16, 16384, 4, 32),
                                       (f32, 4096, 4, 8), (f32, 8192, 4, 16)],
                       CENTRED = [false, true]))]
    pub fn long_norm<T: Float, const N: i32, const P: i32, const W: i32, const CENTRED: bool>(
        of: Operands<T>,
    ) {
        let count = of.x.dim(1) as f32;
        let (row, first, parts) = (block_id(0), 0, shared::<T>([P, 1, N]));
        let part = Part::<T, N, P> { of, row, first, parts };
        part.fetch();
        let (w, b) = (part.weight(0), part.bias(0));
        let (mean, variance) =
            if CENTRED { part.mean_and_variance() } else { (0.0, part.sum::<CENTRED>() / count) };
        let scale = full([1], variance + of.eps).rsqrt().item();
        part.store(mean, scale, w, b);
    }

    /// One cluster of `C` blocks a row, which tell each other their sums.
    #[kernel(target = sm_90a, warps = 16, cluster = C, grid = C * of.x.dim(0),
             instances((T, N, C) = [(bf16, 8192, 4), (f16, 8192, 4), (f32, 4096, 4), (f32, 4096, 8)],
                       P = [4], CENTRED = [false, true]))]
    pub fn spread_norm<T: Float, const N: i32, const C: i32, const P: i32, const CENTRED: bool>(
        of: Operands<T>,
    ) {
        let count = of.x.dim(1) as f32;
        let (row, first) = (block_id(0) / C, cluster::rank() * (P * N));
        let parts = shared::<T>([P, 1, N]);
        let part = Part::<T, N, P> { of, row, first, parts };
        let of_blocks = shared::<f32>([2, 1]);
        part.fetch();
        let (w, b) = (part.weight(0), part.bias(0));
        let mut mean = 0.0;
        let mut squares = of_cluster::<C>(of_blocks[0], part.sum::<CENTRED>());
        if CENTRED {
            mean = squares / count;
            squares = of_cluster::<C>(of_blocks[1], part.squares(mean));
        }
        let scale = full([1], squares / count + of.eps).rsqrt().item();
        part.store(mean, scale, w, b);
    }

    /// The sum of a number of each block of a cluster.
    fn of_cluster<const C: i32>(of_block: Shared<f32>, value: f32) -> f32 {
        of_block.store(full([1], value));
        cluster::sync();
        let mut sum = 0.0;
        for other in unroll(0..C) {
            sum += of_block.of_block(other).load().item();
        }
        sum
    }

    /// One block a row of any width, which it reads twice, `N` columns at a time. It keeps a sum for every `G` adjacent columns of the
    /// tile, which one thread holds: the loop needs no barrier.
    ///
    /// The sums of layer norm are those of distances from the mean of the first `N` columns. The variance is their mean square less the
    /// square of their mean, which is at most `columns / N` times the variance: little cancels.
    #[kernel(target = sm_80, warps = 8, grid = of.x.dim(0),
             instances((T, G, N) = [(bf16, 8, 8192), (f16, 8, 8192), (f32, 4, 4096)], CENTRED = [false, true]))]
    pub fn wide_norm<T: Float, const G: i32, const N: i32, const CENTRED: bool>(of: Operands<T>) {
        let row = block_id(0);
        let count = of.x.dim(1) as f32;
        let mut near = zeros::<f32>([1]);
        let mut distances = zeros::<f32>([N / G]);
        let mut squares = zeros::<f32>([N / G]);
        for at in range(0, of.x.dim(1), N) {
            let mut v = of.x.tile([row, at], [1, N]).load();
            if let Some(added) = of.added {
                let other = added.residual.tile([row, at], [1, N]).load();
                v = (v.cast::<f32>() + other.cast::<f32>()).cast::<T>();
                added.sum.tile([row, at], [1, N]).store(v);
            }
            let mut v = v.cast::<f32>();
            if CENTRED {
                if at == 0 {
                    near = v.sum(1) / minimum(full([1], count), N as f32);
                }
                let inside = (at + arange(0, N)).lt(of.x.dim(1)).expand(0);
                v = select(inside, v - near.expand(1), 0.0);
            }
            let v = v.reshape([N / G, G]);
            if CENTRED {
                distances += v.sum(1);
            }
            squares += (v * v).sum(1);
        }
        let distance = distances.sum(0) / count;
        let scale = (squares.sum(0) / count - distance * distance + of.eps).rsqrt();
        let mean = near.expand(1) + distance;
        for at in range(0, of.x.dim(1), N) {
            let v = match of.added {
                Some(added) => added.sum.tile([row, at], [1, N]).load(),
                None => of.x.tile([row, at], [1, N]).load(),
            };
            let w = of.weight.tile([at], [N]).load().cast::<f32>().expand(0);
            let mut result = (v.cast::<f32>() - mean) * scale * w;
            if let Some(bias) = of.bias {
                result += bias.tile([at], [N]).load().cast::<f32>().expand(0);
            }
            of.y.tile([row, at], [1, N]).store(result.cast::<T>());
        }
    }
}
