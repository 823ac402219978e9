use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn read(x: TensorMut<f32, 1>) {
    let row = shared::<f32>([128]);
    let lane = ptx!("mov.u32 {out}, %laneid;" => i32);
    x.tile([0], [128]).store(row.of_block(lane % 2).load());
}

fn main() {}
