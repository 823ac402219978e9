use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 2>, rows: Tensor<i32, 1>, out: TensorMut<f32, 2>) {
    let v = x.tile([0, 0], [64, 64]).load();
    let i = rows.tile([0], [64]).load();
    out.tile([0, 0], [64, 64]).store(v.gather(0, i));
}

fn main() {}
