use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn first_negative(x: Tensor<f32, 2>, out: TensorMut<i32, 1>) {
    let row = block_id(0);
    let mut found: Option<i32> = None;
    for k in 0..x.dim(1) {
        let v = x.tile([row, k], [1, 1]).load().item();
        if v < 0.0 && found.is_none() {
            found = Some(k);
        }
    }
    out.tile([row], [1]).store(full([1], found.unwrap_or(-1)));
}

fn main() {}
