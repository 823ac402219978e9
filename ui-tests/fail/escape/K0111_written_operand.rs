use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn next(x: TensorMut<i32, 1>) {
    let a = x.tile([0], [32]).load();
    let b = ptx!("add.s32 {a}, {a}, 1; mov.b32 {out}, {a};", a = a => i32);
    x.tile([0], [32]).store(b);
}

fn main() {}
