use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn read_early(x: Ptr<f32>, y: TensorMut<f32, 1>) {
    let (row, full) = (shared::<f32>([256]), barrier(1));
    for step in 0..3 {
        full.expect(row.bytes());
        bulk::load(x + 256 * step, full, row);
        full.wait(1 - step % 2);
        y.tile([256 * step], [256]).store(row.load());
    }
}

fn main() {}
