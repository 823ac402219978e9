use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 1>, y: Tensor<i32, 1>, out: TensorMut<f32, 1>) {
    let x = x.tile([0], [64]).load();
    let y = y.tile([0], [64]).load();
    let (swapped, _) = (x, y).scan(0, |(a, i), (b, j)| (a.max(b), b));
    let (begun, _) = (x, y).scan_exclusive(0, (0.0, 0.0), |(a, i), (b, j)| (a + b, i + j));
    let alone = x.scan_reverse_exclusive(0, 1, |a, b| a * b);
    out.tile([0], [64]).store(swapped + begun + alone);
}

fn main() {}
