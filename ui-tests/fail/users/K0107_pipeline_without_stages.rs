use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(a.dim(0), 64))]
pub fn sums(a: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    let row = block_id(0) * 64;
    let s = shared::<f16>([64, 64]);
    let mut acc = zeros::<f16>([64, 64]);
    for k in pipeline(range(0, a.dim(1), 64)) {
        copy_async(a.tile([row, k], [64, 64]), s);
        acc += s.load();
    }
    out.tile([row, 0], [64, 64]).store(acc);
}

fn main() {}
