use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn crossed(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let staged = shared::<f32>([128]);
    let (ready, read) = (named_barrier(8), named_barrier(8));
    warp_specialize(
        || {
            ready.sync();
            y.tile([0], [128]).store(staged.load());
            read.sync();
        },
        [partition(4).run(|| {
            read.sync();
            staged.store(x.tile([0], [128]).load());
            ready.sync();
        })],
    );
}

fn main() {}
