//! The kernel of rows that are gathered and scattered, for GPUs from Ampere on.

#[kiln::kernel]
pub(crate) mod kernels {
    use super::super::tiles::items::{Epilogue, Lists, Scales, Walk};
    use crate::activation::by_number::{part_of, width_at_once};
    use kiln::prelude::*;

    const STAGES: i32 = 3;

    struct Product<T: Cast, U: Cast, R: Float> {
        a: Tensor<T, 2>,
        b: Tensor<U, 3>,
        c: TensorMut<R, 2>,
        lists: Lists,
        epilogue: Epilogue<R>,
        lefts: Shared<T>,
        rights: Shared<U>,
        staged: Shared<R>,
        /// The rows of `a`, and then those of `c`.
        numbers: Shared<i32>,
    }

    impl<T: Cast, U: Cast, R: Float> Product<T, U, R> {
        /// Starts the copies of a step of 128 bytes of each row, if there is one.
        fn start<const ALONG_K: bool>(&self, step: i32, expert: i32, column: i32) {
            let wide = 128 / T::BYTES;
            let (k, slot) = (step * wide, step % STAGES);
            if k < self.a.dim(1) {
                for part in range(0, 8, 1) {
                    let to = self.lefts.reshape([STAGES, 8, 8, wide])[slot][part];
                    for i in unroll(0..8) {
                        let number = self.numbers[part].tile([i], [1]).load().item();
                        copy_async(self.a.tile([number, k], [1, wide]), to.tile([i, 0], [1, wide]));
                    }
                }
                if ALONG_K {
                    copy_async(self.b.tile([expert, column, k], [1, 128, wide]), self.rights[slot]);
                } else {
                    copy_async(self.b.tile([expert, k, column], [1, wide, 128]), self.rights[slot]);
                }
            }
            copy_async_commit();
        }

        /// The sums of a tile whose corner is at a row of those that are listed and at a column. `MIXED` operands are of two types of FP8, and are
        /// multiplied in f16, which has the numbers of both.
        fn multiply<const ALONG_K: bool, const MIXED: bool>(
            &self,
            expert: i32,
            [row, column]: [i32; 2],
        ) -> Tile<f32> {
            self.numbers.store(self.lists.sources(row, 64).reshape([8, 8]));
            sync();
            for step in unroll(0..STAGES - 1) {
                self.start::<ALONG_K>(step, expert, column);
            }
            let mut acc = zeros::<f32>([64, 128]);
            for step in range(0, cdiv(self.a.dim(1), 128 / T::BYTES), 1) {
                copy_async_wait(STAGES - 2);
                sync(); // every thread's part is there, and the step before has been read
                self.start::<ALONG_K>(step + STAGES - 1, expert, column);
                let (left, right) = (self.lefts[step % STAGES], self.rights[step % STAGES]);
                let right = if ALONG_K { right.t() } else { right };
                if MIXED {
                    acc = dot(left.load().cast::<f16>(), right.load().cast::<f16>(), acc);
                } else if T::BITS == 8 {
                    acc += dot(left, right, zeros::<f32>([64, 128])); // hardware may keep fewer bits of longer sums
                } else {
                    acc = dot(left, right, acc);
                }
            }
            copy_async_wait_all();
            acc
        }

        /// Stores the rows of a tile before the end of an expert's.
        fn store(&self, sums: Tile<f32>, [expert, end]: [i32; 2], [row, column]: [i32; 2]) {
            let width = width_at_once(sums);
            for part in range(0, 128 / width, 1) {
                let (sums, at) = (part_of(sums, part), part * width);
                let y = self.epilogue.value::<false>(sums, expert, row, column + at);
                self.staged.tile([0, at], [64, width]).store(y.cast());
            }
            self.numbers.store(self.lists.targets(row, end, 64).reshape([8, 8]));
            sync();
            for part in range(0, 8, 1) {
                let staged = self.staged.reshape([8, 8, 128])[part];
                for i in unroll(0..8) {
                    let target = self.numbers[part].tile([i], [1]).load().item();
                    let numbers = staged.tile([i, 0], [1, 128]).load();
                    self.c.tile([target, column], [1, 128]).store(numbers);
                }
            }
            sync();
        }
    }

    /// Persistent blocks compute tiles of 64 rows of an expert and 128 columns. `ALONG_K` is that of `pipelined::product`.
    #[kernel(target = sm_80, warps = 8, grid = blocks, instances(T = [bf16, f16], ALONG_K = [true, false]))]
    pub fn product<T: Float, const ALONG_K: bool>(
        a: Tensor<T, 2>,
        b: Tensor<T, 3>,
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
        let p = Product {
            a,
            b,
            c,
            lists: Lists { gather, scatter },
            epilogue: Epilogue { scale, bias, activation, weights },
            lefts: shared([STAGES, 64, 64]),
            rights: if ALONG_K { shared([STAGES, 128, 64]) } else { shared([STAGES, 64, 128]) },
            staged: shared([64, 128]),
            numbers: shared([8, 8]),
        };
        let columns = cdiv(c.dim(1), 128);
        let mut walk = Walk::new(offsets, b.dim(0), rows);
        let mut tile = block_id(0);
        while walk.seek(tile, 64, columns) {
            let (row, column) = walk.place(tile, 64, columns);
            let at = [walk.begin + row * 64, column * 128];
            let sums = p.multiply::<ALONG_K, false>(walk.expert, at);
            p.store(sums, [walk.expert, walk.end], at);
            tile += num_blocks(0);
        }
    }

    /// The same of FP8 numbers, with scales of rows, of weights that are contiguous along `k`. `MIXED` operands are of two types.
    #[kernel(target = sm_89, warps = 8, grid = blocks,
             instances((T, MIXED) = [(e4m3, false), (e5m2, true)], U = [e4m3], R = [bf16]))]
    pub fn float8<T: Cast, U: Cast, R: Float, const MIXED: bool>(
        a: Tensor<T, 2>,
        b: Tensor<U, 3>,
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
        let scales = Scales { a: a_scales, b: b_scales };
        let p = Product {
            a,
            b,
            c,
            lists: Lists { gather, scatter },
            epilogue: Epilogue { scale, bias, activation, weights },
            lefts: shared::<T>([STAGES, 64, 128]),
            rights: shared::<U>([STAGES, 128, 128]),
            staged: shared([64, 128]),
            numbers: shared([8, 8]),
        };
        let columns = cdiv(c.dim(1), 128);
        let mut walk = Walk::new(offsets, b.dim(0), rows);
        let mut tile = block_id(0);
        while walk.seek(tile, 64, columns) {
            let (row, column) = walk.place(tile, 64, columns);
            let (row, column) = (walk.begin + row * 64, column * 128);
            let sums = p.multiply::<true, MIXED>(walk.expert, [row, column]);
            let of_rows = scales.of_sources(p.lists.sources(row, 64));
            let sums = scales.apply::<false>(sums, of_rows, [walk.expert, column]);
            p.store(sums, [walk.expert, walk.end], [row, column]);
            tile += num_blocks(0);
        }
    }
}
