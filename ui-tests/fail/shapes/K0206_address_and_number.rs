use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(p: Ptr<f32>, y: TensorMut<f32, 1>) {
    let v = y.tile([0], [128]).load();
    let mask = v.gt(0.0);
    let a = v.eq(p);
    let b = select(mask, v, p);
    let c = fma(v, p, v);
    let d = load_masked(p, true, v);
}

fn main() {}
