use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 2)]
pub fn exchange(x: TensorMut<f32, 1>) {
    let s = shared::<f32>([128]);
    s.store(x.tile([block_id(0) * 128], [128]).load());
    cluster::sync();
    x.tile([block_id(0) * 128], [128]).store(s.of_block(1 - cluster::rank()).load());
    cluster::sync();
}

fn main() {}
