use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn clear(x: Ptr<f32>, more: bool) {
    let row = shared::<f32>([128]);
    row.store(zeros([128]));
    bulk::store(x, row).when(more).evict_first().when(!more);
    tma::store_wait(0);
}

fn main() {}
