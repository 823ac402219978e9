use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = q.dim(0))]
pub fn grouped(
    q: Tensor<f32, 3>,
    k: Tensor<f32, 3>,
    out: TensorMut<f32, 3>,
) {
    let group = q.dim(1) / k.dim(1);
    let v = q.tile([block_id(0), 0, 0], [1, group, 128]).load();
    let w = k.tile([0, 0, 0], [1, 8, 128]).load();
    out.tile([block_id(0), 0, 0], [1, 8, 128]).store(v + w);
}

fn main() {}
