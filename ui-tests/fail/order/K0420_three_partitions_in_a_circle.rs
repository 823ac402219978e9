use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn circle(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let (first, second) = (shared::<f32>([128]), shared::<f32>([128]));
    let (loaded, scaled, stored) = (barrier(1), barrier(1), barrier(1));
    warp_specialize(
        || {
            scaled.wait(0);
            y.tile([0], [128]).store(second.load());
            stored.arrive();
        },
        [
            partition(1).run(|| {
                stored.wait(0);
                first.store(x.tile([0], [128]).load());
                loaded.arrive();
            }),
            partition(1).run(|| {
                loaded.wait(0);
                second.store(first.load() * 2.0);
                scaled.arrive();
            }),
        ],
    );
}

fn main() {}
