use kiln::prelude::*;

#[kernel(target = sm_80, warps = 8, grid = [cdiv(c.dim(0), 256), cdiv(c.dim(1), 128)])]
pub fn wrong(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f16, 2>) {
    let (m, n) = (block_id(0) * 256, block_id(1) * 128);
    let (sa, sb) = (shared::<f16>([256, 64]), shared::<f16>([64, 128]));
    let mut acc = zeros::<f32>([256, 128]);
    for k in pipeline(range(0, a.dim(1), 64), 4) {
        copy_async(a.tile([m, k], [256, 64]), sa);
        copy_async(b.tile([k, n], [64, 128]), sb);
        acc = dot(sa.load(), sb.load(), acc);
    }
    c.tile([m, n], [256, 128]).store(acc.cast::<f16>());
}

fn main() {}
