// CUDA: A product whose TMA copies run ahead in a pipeline, with a bias. The target is written `sm_90`; the one with TMA and wgmma is `sm_90a`, and `sm_90` does not exist.
// RIGHT: #[kernel(target = sm_90a, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 128)])]
use kiln::prelude::*;

#[kernel(target = sm_90, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 128)])]
pub fn matmul_bias(
    #[block(64, 64)] a: TensorMap<bf16, 2>,
    #[block(64, 128)] b: TensorMap<bf16, 2>,
    bias: Tensor<f32, 1>,
    c: TensorMut<bf16, 2>,
) {
    let (m, n) = (block_id(0) * 64, block_id(1) * 128);
    let (sa, sb) = (shared::<bf16>([64, 64]), shared::<bf16>([64, 128]));
    let mut acc = zeros::<f32>([64, 128]);
    for k in pipeline(range(0, a.dim(1), 64), 4) {
        copy_async(a.at([m, k]), sa);
        copy_async(b.at([k, n]), sb);
        acc = dot(sa, sb, acc);
    }
    let y = acc + bias.tile([n], [128]).load().expand(0);
    c.tile([m, n], [64, 128]).store(y.cast::<bf16>());
}

fn main() {}
