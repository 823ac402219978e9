use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let x = x.tile([0], [64]).load();
    let a = x.scan_exclusive(0, x.sum(0), |a, b| a + b);
    let b = x.scan_exclusive(0, x, |a, b| a + b);
    let (c, _) = (x, x).scan_exclusive(0, 0.0, |(a, b), (c, d)| (a + c, b + d));
    let (d, _) = (x, x).scan_reverse_exclusive(0, (0.0, x), |(a, b), (c, d)| (a + c, b + d));
    let e = x.scan_exclusive(0, |a, b| a + b);
    out.tile([0], [64]).store(a + b + c + d + e);
}

fn main() {}
