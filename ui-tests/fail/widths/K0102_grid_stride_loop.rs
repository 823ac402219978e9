use kiln::prelude::*;

#[kernel(target = sm_80, warps = 8, grid = 128)]
pub fn scale(x: Ptr<f32>, n: i32) {
    let mut i = blockIdx.x * blockDim.x + threadIdx.x;
    while i < n {
        store(x + i, load(x + i) * 2.0);
        i += blockDim.x * gridDim.x;
    }
}

fn main() {}
