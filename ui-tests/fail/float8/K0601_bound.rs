use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, instances(T = [f16, e4m3]))]
pub fn double<T: Float>(x: TensorMut<T, 1>) {
    let window = x.tile([0], [128]);
    window.store(window.load() + window.load());
}

fn main() {}
