use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 2>, n: i32, out: TensorMut<f32, 2>, counts: TensorMut<i32, 1>) {
    let x = x.tile([0, 0], [16, 64]).load();
    let (three, _) = x.top_k(3, 1);
    let (more, _) = x.top_k(128, 1);
    let (some, _) = x.top_k(n, 1);
    let whole = x.cast::<i32>();
    counts.tile([0], [128]).store(whole.histogram(100));
    counts.tile([0], [128]).store(whole.histogram(n));
}

fn main() {}
