use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn factor(x: TensorMut<f16, 2>) {
    let tile = x.tile([0, 0], [64, 64]);
    let odd = tile.load().to_layout(dot_operand(0, swizzle(128), 2));
    tile.store(odd);
}

fn main() {}
