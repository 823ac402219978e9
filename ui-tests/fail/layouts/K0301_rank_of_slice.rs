use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn axes(x: TensorMut<f32, 2>, sums: TensorMut<f32, 1>) {
    let t = x.tile([0, 0], [32, 64]).load();
    let rows = t.to_layout(slice(0, blocked([1, 4], [8, 4], [4, 1], [1, 0])));
    x.tile([0, 0], [32, 64]).store(rows);
    let sum = t.sum(1);
    sums.tile([0], [32]).store(sum.to_layout(mma([2, 2])));
    let bases = sum.to_layout(linear([], [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], [[0, 0], [0, 0]], [8, 4]));
    sums.tile([0], [32]).store(bases);
    sums.tile([0], [32]).store(sum.to_layout(slice(2, blocked([1, 4], [8, 4], [4, 1], [1, 0]))));
}

fn main() {}
