//! Other threads store the rows of a product one by one that is staged column by column: elements that one instruction would move change
//! places from row to row.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[128, 16] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[16, 16] list(2, 0, -1, 1, 3, -2, 1)
//@ arg c: f16[16, 128] poison strides(131, 1) offset(1)
//@ expect c: sum(k, 0, 16, a(j, k) * b(k, i))
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 8, grid = 1)]
pub fn parts_of_products(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f16, 2>) {
    let staged = shared::<f16>([16, 128]);
    let full = barrier(1);
    warp_specialize(
        || {
            let (left, right) = (a.tile([0, 0], [128, 16]).load(), b.tile([0, 0], [16, 16]).load());
            let sums = dot(left, right, zeros::<f32>([128, 16]));
            staged.store(sums.permute([1, 0]).cast::<f16>());
            full.arrive();
        },
        [partition(1).run(|| {
            full.wait(0);
            for group in unroll(0..4) {
                for i in unroll(0..4) {
                    let row = staged.reshape([4, 4, 128])[group].tile([i, 0], [1, 128]);
                    c.tile([4 * group + i, 0], [1, 128]).store(row.load());
                }
            }
        })],
    );
}
