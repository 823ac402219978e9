use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn power(n: i32, x: TensorMut<f32, 1>) {
    fn pow(x: f32, n: i32) -> f32 {
        if n == 0 { 1.0 } else { x * pow(x, n - 1) }
    }
    x.tile([0], [128]).store(full([128], pow(2.0, n)));
}

fn main() {}
