use kiln::prelude::*;

#[kernel(target = sm_80, warps = 8, grid = cdiv(n, 256))]
pub fn f(x: Ptr<f32>, y: Ptr<f32>, n: i32) {
    let tid = threadIdx.x;
    let i = blockIdx.x * blockDim.x + tid;
    let stride = blockDim.x * gridDim.x;
    let w = 2 * get_global_id(0);
}

fn main() {}
