use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn total(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let v = x.tile([block_id(0) * 128], [128]).load();
    let (sum,) = (v,).reduce(0, |(a,), (b,)| (a + b,));
    out.tile([0], [1]).store(sum.reshape([1]));
}

fn main() {}
