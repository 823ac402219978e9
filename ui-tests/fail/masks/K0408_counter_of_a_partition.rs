use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn f(x: Tensor<f32, 1>, y: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let mut hits = 0;
    warp_specialize(
        || {
            out.tile([0], [64]).store(x.tile([0], [64]).load());
        },
        [partition(2).run(|| {
            for k in range(0, 8, 1) {
                if y.tile([k], [1]).load().item() > 0.0 {
                    hits += 1;
                }
            }
        })],
    );
    out.tile([64], [1]).store(full([1], hits.to_f32()));
}

fn main() {}
