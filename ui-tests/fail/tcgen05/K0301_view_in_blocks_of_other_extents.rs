use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let acc = tmem::<f32>([128, 64]);
    let halves = acc.view::<f16>([128, 64]).with_layout(tmem_block([128, 128], 1));
    c.tile([0, 0], [128, 64]).store(halves.load().cast::<f32>());
}

fn main() {}
