use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn count(x: Tensor<f32, 1>, out: TensorMut<i32, 1>) {
    let v = x.tile([block_id(0) * 128], [128]).load();
    let positive = v.gt(0.0).cast::<i32>();
    out.tile([0], [1]).atomic_add(positive.sum(0).expand(0), "relaxed");
}

fn main() {}
