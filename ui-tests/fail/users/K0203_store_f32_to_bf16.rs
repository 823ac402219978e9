// Triton: A linear layer with bias and ReLU in bf16. The f32 accumulator is stored to a bf16 tensor, as tl.store would convert it.
// RIGHT: y.tile([m, n], [64, 64]).store(h.cast::<bf16>());
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(y.dim(0), 64), cdiv(y.dim(1), 64)])]
pub fn linear_relu(x: Tensor<bf16, 2>, w: Tensor<bf16, 2>, bias: Tensor<f32, 1>, y: TensorMut<bf16, 2>) {
    let (m, n) = (block_id(0) * 64, block_id(1) * 64);
    let mut acc = zeros::<f32>([64, 64]);
    for k in range(0, x.dim(1), 32) {
        let a = x.tile([m, k], [64, 32]).load();
        let b = w.tile([n, k], [64, 32]).load();
        acc = dot(a, b.t(), acc);
    }
    let h = maximum(acc + bias.tile([n], [64]).load().expand(0), 0.0);
    y.tile([m, n], [64, 64]).store(h);
}

fn main() {}
