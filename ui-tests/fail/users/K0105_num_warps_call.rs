use kiln::prelude::*;

#[kernel(target = sm_80, num_warps = 4, num_stages = 3)]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = block_id(0) * 1024;
    out.tile([at], [1024]).store(x.tile([at], [1024]).load());
}

fn main() {}
