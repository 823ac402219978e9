use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
pub fn dropout(x: Tensor<f32, 1>, out: TensorMut<f32, 1>, p: f32, seed: u64) {
    let offsets = block_id(0) * 1024 + arange(0, 1024);
    let random = rand(seed, offsets);
    let v = x.tile([block_id(0) * 1024], [1024]).load();
    out.tile([block_id(0) * 1024], [1024]).store(select(random.gt(p), v / (1.0 - p), 0.0));
}

fn main() {}
