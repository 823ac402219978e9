use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn choose(n: i32, y: TensorMut<f32, 1>) {
    let value;
    if n > 0 {
        value = 1.0;
    }
    y.tile([0], [64]).store(full([64], value));
}

fn main() {}
