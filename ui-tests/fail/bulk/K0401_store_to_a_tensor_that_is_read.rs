use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn clear(x: Tensor<f32, 1>) {
    let row = shared::<f32>([128]);
    row.store(zeros([128]));
    bulk::store(x.ptr() + 128, row);
    tma::store_wait(0);
}

fn main() {}
