//! The kernel of rows that are gathered and scattered, for GPUs from Ampere on.

#[kiln::kernel]
pub(crate) mod kernels {
    use super::super::tiles::items::{Epilogue, Lists, Walk};
    use crate::activation::by_number::{part_of, width_at_once};
    use kiln::prelude::*;

    const STAGES: i32 = 3;

    struct Product<T: Float> {
        a: Tensor<T, 2>,
        b: Tensor<T, 3>,
        lefts: Shared<T>,
        rights: Shared<T>,
        /// The rows of `a`, and then those of `c`.
        numbers: Shared<i32>,
    }

    impl<T: Float> Product<T> {
        /// Starts the copies of a step, if there is one.
        fn start<const ALONG_K: bool>(&self, step: i32, expert: i32, column: i32) {
            let (k, slot) = (step * 64, step % STAGES);
            if k < self.a.dim(1) {
                for part in range(0, 8, 1) {
                    let to = self.lefts.reshape([STAGES, 8, 8, 64])[slot][part];
                    for i in unroll(0..8) {
                        let number = self.numbers[part].tile([i], [1]).load().item();
                        copy_async(self.a.tile([number, k], [1, 64]), to.tile([i, 0], [1, 64]));
                    }
                }
                if ALONG_K {
                    copy_async(self.b.tile([expert, column, k], [1, 128, 64]), self.rights[slot]);
                } else {
                    copy_async(self.b.tile([expert, k, column], [1, 64, 128]), self.rights[slot]);
                }
            }
            copy_async_commit();
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
        let lists = Lists { gather, scatter };
        let epilogue = Epilogue { scale, bias, activation, weights };
        let p = Product {
            a,
            b,
            lefts: shared([STAGES, 64, 64]),
            rights: if ALONG_K { shared([STAGES, 128, 64]) } else { shared([STAGES, 64, 128]) },
            numbers: shared([8, 8]),
        };
        let staged = shared::<T>([64, 128]);
        let columns = cdiv(c.dim(1), 128);
        let mut walk = Walk::new(offsets, b.dim(0), rows);
        let mut tile = block_id(0);
        while walk.seek(tile, 64, columns) {
            let (row, column) = walk.place(tile, 64, columns);
            let (row, column) = (walk.begin + row * 64, column * 128);
            p.numbers.store(lists.sources(row, 64).reshape([8, 8]));
            sync();
            for step in unroll(0..STAGES - 1) {
                p.start::<ALONG_K>(step, walk.expert, column);
            }
            let mut acc = zeros::<f32>([64, 128]);
            for step in range(0, cdiv(a.dim(1), 64), 1) {
                copy_async_wait(STAGES - 2);
                sync(); // every thread's part is there, and the step before has been read
                p.start::<ALONG_K>(step + STAGES - 1, walk.expert, column);
                let right = p.rights[step % STAGES];
                acc = dot(p.lefts[step % STAGES], if ALONG_K { right.t() } else { right }, acc);
            }
            copy_async_wait_all();
            let width = width_at_once(acc);
            for part in range(0, 128 / width, 1) {
                let (sums, at) = (part_of(acc, part), part * width);
                let y = epilogue.value::<false>(sums, walk.expert, row, column + at);
                staged.tile([0, at], [64, width]).store(y.cast());
            }
            p.numbers.store(lists.targets(row, walk.end, 64).reshape([8, 8]));
            sync();
            for part in range(0, 8, 1) {
                let staged = staged.reshape([8, 8, 128])[part];
                for i in unroll(0..8) {
                    let target = p.numbers[part].tile([i], [1]).load().item();
                    let numbers = staged.tile([i, 0], [1, 128]).load();
                    c.tile([target, column], [1, 128]).store(numbers);
                }
            }
            sync();
            tile += num_blocks(0);
        }
    }
}
