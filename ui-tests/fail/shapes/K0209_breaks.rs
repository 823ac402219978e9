use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn search(n: i32, y: TensorMut<f32, 1>) {
    let mut i = 0;
    let found = loop {
        i += 1;
        if i > n {
            break 3;
        }
        if i > 7 {
            break full([64], 1.0);
        }
    };
    y.tile([0], [64]).store(found);
}

fn main() {}
