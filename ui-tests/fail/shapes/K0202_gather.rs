use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 2>, at: Tensor<i32, 1>, out: TensorMut<f32, 2>) {
    let x = x.tile([0, 0], [16, 64]).load();
    let at = at.tile([0], [64]).load();
    let line = x.gather(1, at);
    let first = x.gather(1, at.expand(0));
    let turned = x.gather(0, zeros([16, 32]));
    let all = x.gather(1, 3);
    let floats = x.gather(1, x);
    out.tile([0, 0], [16, 64]).store(x);
}

fn main() {}
