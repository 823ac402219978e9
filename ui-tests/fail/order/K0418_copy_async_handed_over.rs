use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn copied_for_others(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let staged = shared::<f32>([64, 64]);
    let ready = named_barrier(8);
    warp_specialize(
        || {
            ready.sync();
            y.tile([0, 0], [64, 64]).store(staged.load());
        },
        [partition(4).run(|| {
            copy_async(x.tile([0, 0], [64, 64]), staged);
            copy_async_commit();
            ready.arrive();
            copy_async_wait(0);
        })],
    );
}

fn main() {}
