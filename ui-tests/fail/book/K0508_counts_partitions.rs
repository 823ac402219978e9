use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn running_sums(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let row = shared::<f32>([1, 64]);
    let (filled, free) = (named_barrier(2), named_barrier(5));
    warp_specialize(
        || {
            for at in 0..x.dim(0) {
                filled.sync();
                y.tile([at, 0], [1, 64]).store(row.load());
                free.arrive();
            }
        },
        [partition(1).run(|| {
            let mut sum = zeros::<f32>([1, 64]);
            for at in 0..x.dim(0) {
                sum += x.tile([at, 0], [1, 64]).load();
                row.store(sum);
                filled.arrive();
                free.sync();
            }
        })],
    );
}

fn main() {}
