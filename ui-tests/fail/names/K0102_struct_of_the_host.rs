use kiln::prelude::*;

#[derive(Clone, Copy)]
struct Pair {
    a: i32,
    b: i32,
}

#[kernel(target = sm_80, warps = 4)]
pub fn clear(x: TensorMut<i32, 1>) {
    let pair = Pair { a: 1, b: 2 };
    x.tile([0], [128]).store(full([128], pair.a + pair.b));
}

fn main() {}
