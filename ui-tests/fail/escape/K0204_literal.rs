use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn double(x: TensorMut<f32, 1>) {
    let v = x.tile([0], [32]).load();
    x.tile([0], [32]).store(ptx!("mul.rz.f32 {out}, {v}, {two};", v = v, two = 2.0 => f32));
}

fn main() {}
