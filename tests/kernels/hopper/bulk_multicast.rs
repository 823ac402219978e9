//! A row that one block of a cluster copies to all of them, each time another one.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: ptr f32[4096] uniform(-8, 8)
//@ arg y: f32[4, 16, 256] poison
//@ expect y: x(j * 256 + k) + i
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 4, grid = 4)]
pub fn bulk_multicast(x: Ptr<f32>, y: TensorMut<f32, 3>) {
    let rank = cluster::rank();
    let row = shared::<f32>([256]);
    let full = barrier(1);
    for turn in 0..16 {
        full.expect(row.bytes());
        bulk::load(x + turn * 256, full, row).multicast(0b1111).when(rank == turn % 4);
        full.wait(turn % 2);
        let tile = row.load() + rank as f32;
        y.tile([rank, turn, 0], [1, 1, 256]).store(tile.reshape([1, 1, 256]));
        cluster::sync();
    }
}
