use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn chosen(x: TensorMut<f32, 1>) {
    let tile = x.tile([0], [128]);
    match tile.load().max(0).item() {
        top => tile.store(top),
    }
    let other = match 3 {
        3 => matched,
        _ => 2.0,
    };
}

fn main() {}
