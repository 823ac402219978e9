use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(n: i32, x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let v = x.tile([0, 0], [64, 64]).load();
    let floor = v.max(0.0);
    let both = v.min(v * 2.0);
    let capped = v.max(n.cast::<f32>());
    out.tile([0, 0], [64, 64]).store(v.min(v.max(0.0), 1.0));
}

fn main() {}
