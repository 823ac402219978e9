//! Values and types are different namespaces: a variable may be called as a type is.

use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn names(n: i32, y: TensorMut<i64, 1>) {
    let mut sum: i64 = 0;
    for i64 in 0..n {
        sum += i64 as i64;
    }
    let f32 = 3;
    let half: f32 = f32::EPSILON * f32 as f32;
    sum += f32 as i64 + half as i64;
    y.tile([0], [32]).store(full([32], sum));
}

fn main() {}
