use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn early_end(x: Tensor<f32, 1>, y: TensorMut<f32, 1>, n: i32) {
    let staged = shared::<f32>([128]);
    staged.store(x.tile([0], [128]).load());
    warp_specialize(
        || staged.store(zeros([128])),
        [partition(2).run(|| {
            for at in range(0, n, 128) {
                y.tile([at], [128]).store(staged.load());
            }
        })],
    );
}

fn main() {}
