//! Rows in layouts that are pinned: dealt out, alike in all warps, in another order, and more registers than rows.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f16[70, 80] bits
//@ arg rows: i32[32] list(3, -1, 69, 70, 0, 7, 7, -100, 1000, 38, 2, 21, 5, 4, 3, 2, 69, 68, 67, 66, 11, 12, 13, 14, 50, 40, 30, 20, 10, 0, 1, 2)
//@ arg out: f16[160, 32] poison
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn gather_pinned(
    #[block(1, 32)] x: TensorMap<f16, 2>,
    rows: Tensor<i32, 1>,
    out: TensorMut<f16, 2>,
) {
    let loaded = rows.tile([0], [32]).load();
    let dst = shared::<f16>([5, 32, 32]);
    let bar = barrier(1);
    bar.expect(5 * 32 * x.block_bytes());
    let dealt = loaded.to_layout(slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0])));
    tma::gather(x, dealt, 0, bar, dst[0]);
    let turned = loaded.to_layout(slice(1, blocked([8, 1], [1, 32], [4, 1], [0, 1])));
    tma::gather(x, turned, 16, bar, dst[1]);
    let alike = loaded.to_layout(blocked([32], [32], [4], [0]));
    tma::gather(x, alike, 32, bar, dst[2]);
    let repeated = loaded.to_layout(blocked([64], [32], [4], [0]));
    tma::gather(x, repeated, 48, bar, dst[3]);
    let two = loaded.to_layout(slice(0, blocked([1, 4], [32, 1], [2, 2], [1, 0])));
    tma::gather(x, two, 64, bar, dst[4]);
    bar.wait(0);
    for i in unroll(0..5) {
        out.tile([32 * i, 0], [32, 32]).store(dst[i].load());
    }
}
