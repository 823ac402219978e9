use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn told_first(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let staged = shared::<f32>([128]);
    let ready = named_barrier(5);
    warp_specialize(
        || {
            ready.sync();
            y.tile([0], [128]).store(staged.load());
        },
        [partition(1).run(|| {
            ready.arrive();
            staged.store(x.tile([0], [128]).load());
        })],
    );
}

fn main() {}
