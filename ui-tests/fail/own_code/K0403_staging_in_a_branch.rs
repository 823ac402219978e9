// CUDA: a staging buffer is declared in the branch that uses it.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>, through: bool) {
    let v = x.tile([0, 0], [32, 64]).load();
    if through {
        let staging = shared::<f32>([32, 64]);
        staging.store(v);
        sync();
        out.tile([0, 0], [32, 64]).store(staging.load());
    }
}

fn main() {}
