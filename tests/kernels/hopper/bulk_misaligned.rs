//! A bulk copy begins at a multiple of 16 bytes: at another address it is a fault, and moves no other bytes.
//@ run: emulate
//@ fails: which is not a multiple of 16
//@ arg x: ptr f32[256] uniform(-1, 1)
//@ arg y: f32[128] poison
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, grid = 1)]
pub fn bulk_misaligned(x: Ptr<f32>, y: TensorMut<f32, 1>) {
    let row = shared::<f32>([128]);
    let full = barrier(1);
    full.expect(row.bytes());
    bulk::load(x + 2, full, row);
    full.wait(0);
    y.tile([0], [128]).store(row.load());
}
