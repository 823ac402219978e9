use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn first(x: TensorMut<f32, 1>) {
    let lane = ptx!("mov.u32 {out}, %laneid;" => i32);
    if lane == 0 {
        x.tile([0], [32]).store(zeros([32]));
    }
}

fn main() {}
