//! A partition changes a variable that other warps read.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn count(y: TensorMut<i32, 1>) {
    let mut turns = 0;
    warp_specialize(
        || sync(),
        [partition(1).run(|| {
            for i in 0..4 {
                turns += i;
            }
        })],
    );
    y.tile([0], [1]).store(full([1], turns));
}

fn main() {}
