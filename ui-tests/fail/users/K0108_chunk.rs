use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn swiglu(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = block_id(0);
    let v = x.tile([row, 0], [1, 256]).load();
    let (gate, up) = v.chunk(2, 1);
    out.tile([row, 0], [1, 128]).store(gate / (1.0 + (-gate).exp()) * up);
}

fn main() {}
