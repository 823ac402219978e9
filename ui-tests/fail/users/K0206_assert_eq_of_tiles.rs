use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn check(x: Tensor<i32, 1>, out: TensorMut<i32, 1>) {
    let v = x.tile([0], [128]).load();
    let sorted = v.sort(0);
    assert_eq!(v, sorted, "not sorted");
    out.tile([0], [128]).store(sorted);
}

fn main() {}
