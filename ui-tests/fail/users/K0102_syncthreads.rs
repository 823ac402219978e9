use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let s = shared::<f32>([128]);
    s.store(x.tile([block_id(0) * 128], [128]).load());
    __syncthreads();
    out.tile([block_id(0) * 128], [128]).store(s.load());
}

fn main() {}
