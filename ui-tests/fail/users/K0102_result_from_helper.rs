use kiln::prelude::*;

#[device]
fn checked(x: Tile<f32>, n: i32) -> Result<Tile<f32>, i32> {
    if n == 0 { Err(0) } else { Ok(x / n as f32) }
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn mean(x: TensorMut<f32, 1>, n: i32) {
    let w = x.tile([block_id(0) * 128], [128]);
    w.store(checked(w.load(), n).unwrap());
}

fn main() {}
