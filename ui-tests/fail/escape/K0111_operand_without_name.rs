use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn sum(x: TensorMut<f32, 1>) {
    let a = x.tile([0], [32]).load();
    x.tile([0], [32]).store(ptx!("add.rz.f32 {out}, {a}, {a};", a => f32));
}

fn main() {}
