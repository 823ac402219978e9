use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(n: i32, x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let v = x.tile([0, 0], [64, 64]).load();
    let a: Tile<f16> = v.into();
    let b = v.clone();
    let c = v.zip(b);
    let d = v.fold(0.0, |a, b| a + b);
    let e = v.max_axis(1);
    let f = v.load();
}

fn main() {}
