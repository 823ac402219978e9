use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn scale(mode: i32, x: TensorMut<f32, 1>) {
    let tile = x.tile([0], [128]);
    let N = mode + 1;
    let factor = match mode {
        N => 1.0,
        #[cfg(any())]
        3 => 3.0,
        _ => 2.0,
    };
    tile.store(tile.load() * factor);
}

fn main() {}
