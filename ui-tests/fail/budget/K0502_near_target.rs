use kiln::prelude::*;

#[kernel(target = [sm_86, sm_90], warps = 4)]
pub fn wrong(y: TensorMut<f32, 1>) {
    y.tile([0], [64]).store(if target(sm_86) { zeros([64]) } else { full([64], 1.0) });
}

fn main() {}
