use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn two(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let v = x.tile([0], [256]).load();
    warp_specialize(
        || {
            out.tile([0], [256]).store(v * 2.0);
        },
        [partition(4).run(|| {
            out.tile([256], [256]).store(v * 3.0);
        })],
    );
}

fn main() {}
