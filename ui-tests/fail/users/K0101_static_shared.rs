use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn reverse(x: TensorMut<f32, 1>) {
    static BUF: [f32; 128] = [0.0; 128];
    let v = x.tile([0], [128]).load();
    BUF.store(v);
    sync();
    x.tile([0], [128]).store(BUF.load().flip(0));
}

fn main() {}
