use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(x: Ptr<f32>, y: TensorMut<f32, 1>) {
    let rows = shared::<f32>([4, 16]);
    let full = barrier(1);
    full.expect(rows.bytes());
    bulk::load(x, full, rows);
    full.wait(0);
    y.tile([0], [16]).store(rows[2].load());
}

fn main() {}
