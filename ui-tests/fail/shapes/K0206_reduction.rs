use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn reductions(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let v = x.tile([0], [128]).load();
    let at = arange(0, 128).max(0);
    let most: f32 = v.max(0);
    let mut total = most;
    total += v.sum(0);
    if v.sum(0) > 3.0 {
        total = 0.0;
    }
    if v.sum(0).gt(3.0) {
        total = 1.0;
    }
    for i in 0..at {
        y.tile([i], [1]).store(full([1], v.min(0)));
    }
    y.tile([at], [1]).store(v.sum(0));
}

fn main() {}
