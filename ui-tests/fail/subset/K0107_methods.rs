//! A method that exists is called with other arguments: the message says how it is called.

use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn sums(x: Tensor<f32, 2>, y: TensorMut<f32, 1>) {
    let corner = x.tile([0, 0]).load();
    let t = x.tile([0, 0], [32, 64]).load();
    let s = shared::<f32>([32, 64]);
    let all = s.load(0);
    let rows = t.sum();
    let next = t.permute(1, 0);
    let anew = t.to_layout();
    y.tile([0], [32]).store(rows);
}

fn main() {}
