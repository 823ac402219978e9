use kiln::prelude::*;

/// y = the running sums of the rows of `x`. One warp adds them up, four store them.
#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn running_sums(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let row = shared::<f32>([1, 64]);
    let (full, empty) = (barrier(1), barrier(1));
    warp_specialize(
        || {
            for at in 0..x.dim(0) {
                full.wait(at % 2);
                y.tile([at, 0], [1, 64]).store(row.load());
                empty.arrive();
            }
        },
        [partition(1).run(|| {
            let mut sum = zeros::<f32>([1, 64]);
            for at in 0..x.dim(0) {
                sum += x.tile([at, 0], [1, 64]).load();
                empty.wait(1 - at % 2);
                full.arrive(); // the row is ready
                row.store(sum);
            }
        })],
    );
}

fn main() {}
