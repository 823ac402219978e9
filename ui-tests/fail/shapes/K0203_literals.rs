use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(n: i32, x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let half = n as f32 / 2;
    let w: f32 = 3;
    let at = arange(0, 64) + 1.5;
    let tile = x.tile([0], [64]).load() * -2 + half + w + at;
    let m: f32 = n;
    y.tile([0], [64]).store(tile + m);
}

fn main() {}
