use kiln::prelude::*;

#[device]
fn scale(x: &mut Tile<f32>, by: f32) {
    *x *= by;
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn scaled(x: TensorMut<f32, 1>, by: f32) {
    let w = x.tile([block_id(0) * 128], [128]);
    let v = w.load();
    scale(&mut v, by);
    w.store(v);
}

fn main() {}
