//! A convolution as a `wgmma` product: rows are places of the filter, in the order of images, and the depth is taps times channels. Places do
//! not fill the last block, and channels not the last step.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: bf16[2, 7, 5, 24] list(1, -2, 3, 0, 2, -1, 1, -3, 1, 0, -1)
//@ arg w: bf16[16, 3, 3, 24] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg y: f32[40, 16] poison
//@ expect y: sum(r, 0, 3, sum(s, 0, 3, if i / 5 % 4 * 2 - 1 + r >= 0 && i / 5 % 4 * 2 - 1 + r < 7 && i % 5 - 2 + 2 * s >= 0 && i % 5 - 2 + 2 * s < 5 { sum(c, 0, 24, x(i / 20, i / 5 % 4 * 2 - 1 + r, i % 5 - 2 + 2 * s, c) * w(j, r, s, c)) } else { 0 }))
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = cdiv(y.dim(0), 64), instances(STAGES = [2, 3]))]
pub fn convolution<const STAGES: i32>(
    #[block(64, 1, 1, 16, filter = [3, 3], stride = [2, 1], padding = [1, 2], dilation = [1, 2])]
    x: TensorMap<bf16, 4>,
    #[block(16, 1, 1, 16)] w: TensorMap<bf16, 4>,
    y: TensorMut<f32, 2>,
) {
    let place = block_id(0) * 64;
    let (a, b) = (shared::<bf16>([64, 16]), shared::<bf16>([16, 16]));
    let mut acc = zeros::<f32>([64, 16]);
    for step in pipeline(range(0, 9 * cdiv(x.dim(3), 16), 1), STAGES) {
        let (tap, c) = (step % 9, step / 9 * 16);
        copy_async(x.at([place, tap / 3, tap % 3, c]), a);
        copy_async(w.at([0, tap / 3, tap % 3, c]), b);
        acc = dot(a, b.t(), acc);
    }
    y.tile([place, 0], [64, 16]).store(acc);
}
