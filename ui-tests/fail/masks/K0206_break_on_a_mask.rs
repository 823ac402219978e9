use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn first(x: Ptr<f32>, out: Ptr<f32>, n: i32) {
    let lanes = arange(0, 128);
    let mut total = zeros::<f32>([128]);
    for k in range(0, n, 128) {
        let v = load(x + k + lanes);
        if v.gt(100.0) {
            break;
        }
        total += v;
    }
    store(out + lanes, total);
}

fn main() {}
