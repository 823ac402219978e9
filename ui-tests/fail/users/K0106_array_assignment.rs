use kiln::prelude::*;

// Wrong: an element of an `array` is assigned at the counter of an ordinary loop, which is known only at run time; right is `for i in unroll(0..4)`.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 32))]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = block_id(0) * 32;
    let mut parts = array(4, |_| zeros::<f32>([32, 64]));
    let mut total = zeros::<f32>([32]);
    for i in 0..4 {
        parts[i] = x.tile([row, i * 64], [32, 64]).load();
        total += parts[i].abs().sum(1);
    }
    let scale = (total + 1e-6).recip().expand(1);
    for i in unroll(0..4) {
        out.tile([row, i * 64], [32, 64]).store(parts[i] * scale);
    }
}

fn main() {}
