use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn twisted(x: TensorMut<f32, 1>) {
    let tile = x.tile([0], [64]);
    let layout = linear([[1]], [[2], [4], [8], [16], [128]], [], [64]);
    tile.store(tile.load().to_layout(layout));
}

#[kernel(target = sm_80, warps = 1)]
pub fn widths(x: TensorMut<f32, 2>) {
    let tile = x.tile([0, 0], [16, 16]);
    tile.store(tile.load().to_layout(dot_operand(0, mma([1, 1]), 3)));
}

#[kernel(target = sm_80, warps = 1)]
pub fn registers(x: TensorMut<f32, 2>) {
    let s = shared::<f32>([16, 16]).with_layout(mma([1, 1]));
    s.store(x.tile([0, 0], [16, 16]).load());
}

fn main() {}
