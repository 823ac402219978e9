use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(0), 64), cdiv(x.dim(1), 64)])]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let pid_m = program_id(axis = 0);
    let pid_n = program_id(axis = 1);
    let v = x.tile([pid_m * 64, pid_n * 64], [64, 64]).load();
    out.tile([pid_n * 64, pid_m * 64], [64, 64]).store(v.trans());
}

fn main() {}
