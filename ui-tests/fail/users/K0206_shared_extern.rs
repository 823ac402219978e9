use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 1>, n: i32, out: TensorMut<f32, 1>) {
    let s = shared::<f32>(n * 4);
    s.store(x.tile([0], [256]).load());
    out.tile([0], [256]).store(s.load());
}

fn main() {}
