//! Rows by bulk copy, in and out, a prefetch in front, of every element type.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: ptr T[512] bits
//@ arg y: ptr T[512] bits
//@ expect y: if i < 256 { x(i + 256) } else { y(i) }
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 2, grid = 1, instances(T = [u8, i8, i16, f16, bf16, i32, u32, f32, i64, f64]))]
pub fn bulk_copy<T: Scalar>(x: Ptr<T>, y: Ptr<T>) {
    let row = shared::<T>([256]);
    let full = barrier(1);
    bulk::prefetch(x + 256, 256);
    full.expect(row.bytes());
    bulk::load(x + 256, full, row).evict_first();
    full.wait(0);
    bulk::store(y, row).evict_last();
    bulk::store(y + 256, row).when(num_blocks(0) > 1);
    tma::store_wait_written(0);
}
