use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(n, block))]
pub fn wrong(n: i32, block: i32, x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = block_id(0) * block;
    let v = x.tile([at], [block]).load();
    out.tile([at], [block]).store(v * 2.0);
}

fn main() {}
