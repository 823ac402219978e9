use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn left_by_a_partition(x: Tensor<f32, 2>, #[block(64, 64)] y: TensorMapMut<f32, 2>) {
    let (staged, full) = (shared::<f32>([64, 64]), barrier(1));
    warp_specialize(
        || {
            staged.store(x.tile([0, 0], [64, 64]).load());
            fence_async();
            full.arrive();
            tma::store_wait(0);
        },
        [partition(1).run(|| {
            full.wait(0);
            tma::store(y, [0, 0], staged);
        })],
    );
}

fn main() {}
