use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn halve(x: TensorMut<f32, 1>) {
    let at = block_id(0) * 128;
    let v = x.tile([at], [128]).load();
    println!("v is ", v);
    x.tile([at], [128]).store(v * 0.5);
}

fn main() {}
