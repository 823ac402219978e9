use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    for i in range(threadIdx.x, 1024, blockDim.x) {
        out.tile([i], [1]).store(x.tile([i], [1]).load());
    }
}

fn main() {}
