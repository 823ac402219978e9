use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let tall = tmem::<f32>([256, 32]).with_layout(tmem_block([128, 8], 1));
    let upper = tall.tile([0, 0], [128, 32]).view::<f32>([128, 32]);
    c.tile([0, 0], [128, 32]).store(upper.load());
}

fn main() {}
