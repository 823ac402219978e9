use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn give(x: Tensor<f32, 1>) {
    let row = shared::<f32>([128]);
    let full = barrier(1);
    full.expect(row.bytes());
    row.store_async(x.tile([0], [128]).load(), full);
    full.wait(0);
}

fn main() {}
