use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn count_positive(x: Tensor<f32, 1>, out: TensorMut<i32, 1>) {
    let v = x.tile([block_id(0) * 128], [128]).load();
    let votes = ballot_sync(0xffff_ffff, v.gt(0.0));
    out.tile([block_id(0)], [1]).atomic_add(votes.count_ones());
}

fn main() {}
