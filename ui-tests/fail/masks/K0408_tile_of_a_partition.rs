use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn f(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let mut acc = zeros::<f32>([64]);
    warp_specialize(
        || {
            out.tile([0], [64]).store(x.tile([0], [64]).load());
        },
        [partition(2).run(|| {
            acc = x.tile([64], [64]).load() * 2.0;
        })],
    );
    out.tile([64], [64]).store(acc);
}

fn main() {}
