use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn k(x: i32, y: i32, out: TensorMut<i32, 1>) {
    let one = match (x, y) {
        (1, n) | (n, 1) if n > 3 => n,
        _ => 0,
    };
    out.tile([0], [128]).store(full([128], one));
}

fn main() {}
