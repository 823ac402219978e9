// A copy is no step of its own for other threads.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 8)]
pub fn order_of_a_copy(x: TensorMut<f32, 2>) {
    let tile = shared::<f32>([32, 32]);
    copy_async(x.tile([0, 0], [32, 32]).acquire(), tile);
    x.tile([0, 0], [32, 32]).acquire().prefetch();
}

fn main() {}
