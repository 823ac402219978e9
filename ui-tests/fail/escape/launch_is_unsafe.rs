//! A text that writes to memory makes the launch unsafe, with tensors alone; so does one that exchanges among threads.

use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn anywhere(x: TensorMut<i32, 1>) {
    ptx!("st.global.u32 [{at}], 1;", at = 64i64);
    x.tile([0], [32]).store(zeros([32]));
}

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn others(x: TensorMut<i32, 1>) {
    let v = x.tile([0], [32]).load();
    x.tile([0], [32]).store(ptx!("shfl.sync.bfly.b32 {out}, {v}, 1, 31, -1;", v = v => i32));
}

fn run(stream: &Stream, x: &mut DeviceTensor<i32, 1>) -> Result<()> {
    anywhere(anywhere::Args { x: &mut *x }).launch(stream)?;
    others(others::Args { x }).launch(stream)
}

fn main() {}
