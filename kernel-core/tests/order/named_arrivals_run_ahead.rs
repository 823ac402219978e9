//! Early: The partition may arrive again before the default part has met it.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn named_arrivals_run_ahead(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let rows = shared::<f32>([6, 1, 64]);
    let ready = named_barrier(5);
    warp_specialize(
        || {
            for at in 0..6 {
                ready.sync();
                y.tile([at, 0], [1, 64]).store(rows[at].load());
            }
        },
        [partition(1).run(|| {
            for at in 0..6 {
                rows[at].store(x.tile([at, 0], [1, 64]).load());
                ready.arrive();
            }
        })],
    );
}
