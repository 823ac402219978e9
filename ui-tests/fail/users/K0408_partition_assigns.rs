use kiln::prelude::*;

// Wrong: a partition assigns to a variable of the kernel, as a closure that captures by mutable reference; right is to pass the sum through shared memory: `sums.store(..)` in the partition, `sums.load()` after the call.
#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn wrong(x: Tensor<f32, 2>, largest: TensorMut<f32, 1>, out: TensorMut<f32, 2>) {
    let row = block_id(0);
    let window = x.tile([row, 0], [1, 512]);
    let mut total = 0.0f32;
    warp_specialize(
        || largest.tile([row], [1]).store(window.load().max(1)),
        [partition(2).run(|| {
            total = window.load().sum(1).item();
        })],
    );
    out.tile([row, 0], [1, 512]).store(window.load() / total);
}

fn main() {}
