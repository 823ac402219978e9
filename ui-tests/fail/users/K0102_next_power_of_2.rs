use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn softmax(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = block_id(0);
    let n = next_power_of_2(x.dim(1));
    let v = x.tile([row, 0], [1, n]).load();
    let e = (v - v.max(1).expand(1)).exp();
    out.tile([row, 0], [1, n]).store(e / e.sum(1).expand(1));
}

fn main() {}
