use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn after_you(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let staged = shared::<f32>([128]);
    let (ready, asked) = (barrier(1), barrier(1));
    warp_specialize(
        || {
            ready.wait(0);
            y.tile([0], [128]).store(staged.load());
            asked.arrive();
        },
        [partition(1).run(|| {
            asked.wait(0);
            staged.store(x.tile([0], [128]).load());
            ready.arrive();
        })],
    );
}

fn main() {}
