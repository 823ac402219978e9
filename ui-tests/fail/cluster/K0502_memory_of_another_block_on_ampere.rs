use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn exchange(x: TensorMut<f32, 1>) {
    let row = shared::<f32>([128]);
    x.tile([0], [128]).store(row.of_block(1).load());
}

fn main() {}
