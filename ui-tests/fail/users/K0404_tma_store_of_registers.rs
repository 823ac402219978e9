use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = [cdiv(out.dim(0), 64), cdiv(out.dim(1), 64)])]
pub fn fill(value: f32, #[block(64, 64)] out: TensorMapMut<f32, 2>) {
    let tile = full::<f32>([64, 64], value);
    tma::store(out, [block_id(0) * 64, block_id(1) * 64], tile);
    tma::store_wait(0);
}

fn main() {}
