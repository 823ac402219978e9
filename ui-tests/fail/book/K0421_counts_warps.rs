use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn handed_over(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let staged = shared::<f32>([128]);
    let full = barrier(4);
    warp_specialize(
        || {
            full.wait(0);
            y.tile([0], [128]).store(staged.load());
        },
        [partition(4).run(|| {
            staged.store(x.tile([0], [128]).load());
            full.arrive();
        })],
    );
}

fn main() {}
