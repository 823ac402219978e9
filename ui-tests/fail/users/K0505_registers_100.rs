use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn two(x: TensorMut<f32, 1>, y: TensorMut<f32, 1>) {
    warp_specialize(
        || x.tile([0], [128]).store(full([128], 1.0)),
        [partition(4).registers(100).run(|| y.tile([0], [32]).store(full([32], 2.0)))],
    );
}

fn main() {}
