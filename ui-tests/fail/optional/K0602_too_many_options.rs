use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn many(
    a: Option<Tensor<f32, 1>>,
    b: Option<Tensor<f32, 1>>,
    c: Option<Tensor<f32, 1>>,
    d: Option<f32>,
    e: Option<Ptr<f32>>,
) {
}

fn main() {}
