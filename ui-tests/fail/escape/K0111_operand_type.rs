use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn bits(x: Tensor<f32, 1>, y: TensorMut<i32, 1>) {
    let x = x.tile([0], [32]).load();
    y.tile([0], [32]).store(x.map(|e| ptx!("bfind.u32 {out}, {e};", e = e => i32)));
}

fn main() {}
