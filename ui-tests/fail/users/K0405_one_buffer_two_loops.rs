use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let s = shared::<f16>([64, 32]);
    let t = shared::<f16>([32, 64]);
    let mut acc = zeros::<f32>([64, 64]);
    for k in pipeline(range(0, a.dim(1), 32), 3) {
        copy_async(a.tile([0, k], [64, 32]), s);
        copy_async(b.tile([k, 0], [32, 64]), t);
        acc = dot(s, t, acc);
    }
    for k in pipeline(range(0, a.dim(1), 32), 3) {
        copy_async(a.tile([64, k], [64, 32]), s);
        copy_async(b.tile([k, 0], [32, 64]), t);
        acc = dot(s, t, acc);
    }
    c.tile([0, 0], [64, 64]).store(acc);
}

fn main() {}
