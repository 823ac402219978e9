use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 2>, y: Tensor<i32, 2>, out: TensorMut<f32, 2>) {
    let x = x.tile([0, 0], [16, 64]).load();
    let y = y.tile([0, 0], [16, 64]).load();
    let (few, _) = (x, y).scan(1, |(a, i), (b, j)| {
        let sum = a + b;
        if i > j { sum } else { b }
    });
    let (many, _) = (x, y).scan(1, |(a, i), (b, j)| (a + b, i, j));
    let (flat, _) = (x, (y, x)).scan_reverse(1, |(a, (i, c)), (b, (j, d))| (a + b, i + j, c + d));
    let (apart, _) = (x, y).reduce(1, |(a, i, c), (b, j, d)| (a + b, i + j));
    let (met, _) = (x, y).reduce(1, |(a, i), (b, j)| { sync(); (a + b, i.max(j)) });
    let (thrice, _) = (x, y).reduce(1, |a, b, c| a);
    out.tile([0, 0], [16, 64]).store(few + many + flat + apart + met + thrice);
}

fn main() {}
