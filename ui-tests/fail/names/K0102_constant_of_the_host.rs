use kiln::prelude::*;

const NAME: &str = "clear";
const STEP: fn(i32) -> i32 = |x| x + 1;
static COUNT: i32 = 4;

#[kernel(target = sm_80, warps = 4)]
pub fn clear(x: TensorMut<f32, 1>) {
    x.tile([0], [128]).store(full([128], STEP));
    x.tile([0], [128]).store(full([128], COUNT));
    x.tile([0], [128]).store(full([128], NAME));
}

fn main() {}
