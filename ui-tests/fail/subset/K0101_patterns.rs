use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn scale(mode: i32, x: TensorMut<f32, 1>) {
    let tile = x.tile([0], [128]);
    let factor = match (mode, 1) {
        (0, ..) => 1.0,
        _ => 2.0,
    };
    let offset = match mode {
        &0 => 1.0,
        _ => 2.0,
    };
    let sign = match [mode, 1] {
        [0, 1] => 1.0,
        _ => -1.0,
    };
    tile.store(tile.load() * factor * sign + offset);
}

#[kernel(target = sm_80, warps = 4)]
pub fn also_wrong(x: TensorMut<f32, 1>) {
    let tile = x.tile([0], [128]);
    let factor = match tile.len() {
        Some(128) => 1.0,
        _ => 2.0,
    };
    tile.store(tile.load() * factor);
}

fn main() {}
