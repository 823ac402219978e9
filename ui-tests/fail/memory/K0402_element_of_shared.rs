use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn stage(y: TensorMut<f32, 1>) {
    let s = shared::<f32>([64]);
    s[0] = 1.0;
    y.tile([0], [64]).store(s.load());
}

fn main() {}
