use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let x = x.tile([0, 0], [16, 64]).load();
    let turned = x.flip(2);
    let (a, _) = (x, x).scan(-3, |a, b| a);
    let (b, _) = (x, x).reduce([0, -2], |a, b| a);
    let (c, _) = (x.sum([0, 1]), x.max([0, 1])).reduce(0, |a, b| b);
    out.tile([0, 0], [16, 64]).store(turned + a + b + c);
}

fn main() {}
