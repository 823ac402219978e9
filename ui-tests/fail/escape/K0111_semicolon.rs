use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn lanes(x: TensorMut<i32, 1>) {
    let lane = ptx!("mov.u32 {out}, %laneid" => i32);
    x.tile([0], [32]).store(full([32], lane));
}

fn main() {}
