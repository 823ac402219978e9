// CUDA: A tiled product with staging buffers that are declared where they are used, as __shared__ arrays in the loop. `shared` may not stand in a loop decided at run time.
// RIGHT: let (sa, sb) = (shared::<f16>([64, 32]), shared::<f16>([32, 64])); // before the loop
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 64)])]
pub fn tiled_product(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let (m, n) = (block_id(0) * 64, block_id(1) * 64);
    let mut acc = zeros::<f32>([64, 64]);
    for k in range(0, a.dim(1), 32) {
        let (sa, sb) = (shared::<f16>([64, 32]), shared::<f16>([32, 64]));
        sa.store(a.tile([m, k], [64, 32]).load());
        sb.store(b.tile([k, n], [32, 64]).load());
        sync();
        acc = dot(sa, sb, acc);
        sync();
    }
    c.tile([m, n], [64, 64]).store(acc);
}

fn main() {}
