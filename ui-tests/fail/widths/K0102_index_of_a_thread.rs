use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = cdiv(n, 64))]
pub fn f(x: Ptr<f32>, y: Ptr<f32>, n: i32) {
    let i = blockIdx.x * blockDim.x + threadIdx.x;
    if i < n {
        store(y + i, load(x + i));
    }
}

fn main() {}
