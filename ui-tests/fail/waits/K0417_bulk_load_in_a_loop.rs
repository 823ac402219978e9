use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn sums(x: Ptr<f32>, out: TensorMut<f32, 1>, n: i32) {
    let s = shared::<f32>([256]);
    let arrived = barrier(1);
    let mut total = zeros::<f32>([256]);
    for row in range(0, n, 1) {
        arrived.expect(1024);
        bulk::load(x + row * 256, arrived, s);
        total = total + s.load();
    }
    out.tile([0], [256]).store(total);
}

fn main() {}
