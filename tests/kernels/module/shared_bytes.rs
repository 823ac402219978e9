//! What a block has of shared memory is a constant of the target: 163 KiB of an A100, of which ten tiles of 16 KiB are filled.
//@ run: eval, emulate, gpu
//@ target: sm_80
//@ compare: exact
//@ arg out: i32[2] poison
//@ expect out: 166912 + i * (10 - 166912)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn shared_bytes(out: TensorMut<i32, 1>) {
    const TILES: i32 = shared_bytes_per_block() / 16384;
    let tiles = array(TILES, |_| shared::<i32>([4096]));
    let mut sum = 0;
    for at in unroll(range(0, TILES, 1)) {
        tiles[at].store(full([4096], at + 1));
        sync();
        sum = sum + tiles[at].load().max(0).item() - at;
    }
    let both = arange(0, 2);
    out.tile([0], [2]).store(select(both.eq(0), shared_bytes_per_block(), sum));
}
