use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn numbers(x: TensorMut<f32, 2>) {
    let tile = x.tile([0, 0], [32, 16]);
    let t = tile.load();
    let three = t.to_layout(blocked([1, 3], [8, 4], [1, 1], [1, 0]));
    let twice = t.to_layout(blocked([1, 4], [8, 4], [1, 1], [1, 1]));
    let third = t.to_layout(dot_operand(2, mma([1, 1]), 2));
    let few = t.to_layout(layout!(S[(32, 4) : (1 @ laneid, 1)]));
    let _missing = shared::<f32>([2, 4]).with_layout(shared_linear([[0, 1], [1, 0]], [2, 4]));
    let _small = shared::<f32>([32, 8]).with_layout(swizzle(128));
    tile.store(three + twice + third + few);
}

fn main() {}
