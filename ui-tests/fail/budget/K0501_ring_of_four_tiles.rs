use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 8, grid = 1)]
pub fn stage(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let a = shared::<f32>([4, 128, 128]);
    a[0].store(x.tile([0, 0], [128, 128]).load());
    sync();
    out.tile([0, 0], [128, 128]).store(a[0].load());
}

fn main() {}
