use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn write(x: Ptr<f32>) {
    let row = shared::<f32>([128]);
    row.store(zeros([128]));
    let lane = ptx!("mov.u32 {out}, %laneid;" => i32);
    bulk::store(x + lane * 128, row);
    tma::store_wait(0);
}

fn main() {}
