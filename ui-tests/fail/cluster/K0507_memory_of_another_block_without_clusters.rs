use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn exchange(x: TensorMut<f32, 1>) {
    let row = shared::<f32>([128]);
    row.store(x.tile([0], [128]).load());
    sync();
    x.tile([0], [128]).store(row.of_block(1).load());
}

fn main() {}
