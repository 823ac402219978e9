use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn exchange(x: TensorMut<f32, 1>, rank: i64) {
    let row = shared::<f32>([128]);
    row.store(x.tile([0], [128]).load());
    cluster::sync();
    x.tile([0], [128]).store(row.of_block(rank).load());
}

fn main() {}
