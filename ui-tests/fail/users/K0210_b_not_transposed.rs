use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 64)])]
pub fn wrong(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f16, 2>) {
    let (m, n) = (block_id(0) * 64, block_id(1) * 64);
    let mut acc = zeros::<f32>([64, 64]);
    for k in range(0, a.dim(1), 32) {
        let at = a.tile([m, k], [64, 32]).load();
        let bt = b.tile([n, k], [64, 32]).load();
        acc = dot(at, bt, acc);
    }
    c.tile([m, n], [64, 64]).store(acc.cast::<f16>());
}

fn main() {}
