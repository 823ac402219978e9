use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn int8_matmul(a: Tensor<i8, 2>, b: Tensor<i8, 2>, scale: f32, out: TensorMut<f32, 2>) {
    let av = a.tile([0, 0], [64, 64]).load();
    let bv = b.tile([0, 0], [64, 64]).load();
    let acc = dot(av, bv, zeros::<f32>([64, 64]));
    out.tile([0, 0], [64, 64]).store(acc * scale);
}

fn main() {}
