use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn scale(x: TensorMut<f32, 1>, factor: f32) {
    let v = x.tile([0], [32]).load();
    let w = ptx!("mul.rz.f32 {out}, {v}, {facor};", v = v, factor = factor => f32);
    x.tile([0], [32]).store(w);
}

fn main() {}
