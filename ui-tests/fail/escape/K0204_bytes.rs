use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn bytes(x: TensorMut<u8, 1>) {
    let v = x.tile([0], [128]).load();
    x.tile([0], [128]).store(ptx!("not.b32 {out}, {v};", v = v => u8));
}

fn main() {}
