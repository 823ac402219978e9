use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn wait(x: TensorMut<f32, 1>) {
    let v = x.tile([0], [32]).load();
    ptx!("bar.sync 0;");
    x.tile([0], [32]).store(v);
}

fn main() {}
