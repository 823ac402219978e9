use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn scale(mode: i32, x: TensorMut<f32, 1>) {
    let tile = x.tile([0], [128]);
    let factor = match mode {
        Some(mode) => 1.0,
        _ => 2.0,
    };
    tile.store(tile.load() * factor);
}

#[kernel(target = sm_80, warps = 4)]
pub fn either(mode: i32, x: TensorMut<f32, 1>) {
    let tile = x.tile([0], [128]);
    let factor = match mode {
        0 | other => 1.0,
        _ => 2.0,
    };
    tile.store(tile.load() * factor);
}

fn main() {}
