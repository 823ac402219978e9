use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let mut v = x.tile([block_id(0) * 128], [128]).load();
    for offset in [16, 8, 4, 2, 1] {
        v += __shfl_down_sync(0xffffffff, v, offset);
    }
    out.tile([block_id(0)], [1]).store(v);
}

fn main() {}
