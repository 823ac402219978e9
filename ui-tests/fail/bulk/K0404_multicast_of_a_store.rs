use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn clear(x: Ptr<f32>) {
    let row = shared::<f32>([128]);
    row.store(zeros([128]));
    bulk::store(x, row).multicast(0b11);
    tma::store_wait(0);
}

fn main() {}
