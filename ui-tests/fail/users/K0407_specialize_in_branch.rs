use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 2)]
pub fn two(x: TensorMut<f32, 1>, y: TensorMut<f32, 1>) {
    if block_id(0) == 0 {
        warp_specialize(
            || x.tile([0], [128]).store(full([128], 1.0)),
            [partition(1).run(|| y.tile([0], [32]).store(full([32], 2.0)))],
        );
    }
}

fn main() {}
