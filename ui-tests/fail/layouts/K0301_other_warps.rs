use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn copy(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let tile = x.tile([0, 0], [64, 64]).load();
    let wide = tile.to_layout(blocked([1, 4], [2, 16], [8, 1], [1, 0]));
    let fragment = tile.to_layout(mma([1, 2]));
    y.tile([0, 0], [64, 64]).store(wide + fragment);
    let row = x.tile([0, 0], [64, 4]).load().sum(1);
    let sums = row.to_layout(slice(1, blocked([1, 4], [32, 1], [2, 1], [1, 0])));
    let bases = row.to_layout(linear([[32]], [[1], [2], [4], [8], [16]], [], [64]));
    let digits = row.to_layout(layout!(S[(2, 32) : (1, 1 @ laneid)]));
    y.tile([0, 0], [64, 4]).store((sums + bases + digits).expand(1).broadcast([64, 4]));
}

fn main() {}
