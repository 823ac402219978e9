use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, instances(T = [f16, f32]))]
pub fn larger<T: Float>(x: T, y: T, out: TensorMut<T, 1>) {
    out.tile([0], [128]).store(full([128], Float::max(x, Float::abs(y))));
}

fn main() {
    let _ = larger::<f32>;
}
