//! A ring of buffers, indexed by a number known when the kernel runs; extents and bytes.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[11, 128] bits
//@ arg out: i32[11, 128] poison
//@ arg sizes: i32[4] poison
//@ expect out: if i < 2 { x(i, j) } else { x(i, j) + x(i - 2, j) }
//@ expect sizes: if i == 0 { 3 } else { if i == 1 { 128 } else { if i == 2 { 1536 } else { 512 } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4]))]
pub fn ring<const W: i32>(x: Tensor<i32, 2>, out: TensorMut<i32, 2>, sizes: TensorMut<i32, 1>) {
    let bufs = shared::<i32>([3, 1, 128]);
    for n in 0..x.dim(0) {
        let row = x.tile([n, 0], [1, 128]).load();
        bufs[n % 3].store(row);
        sync();
        let mut total = row;
        if n >= 2 {
            total = total + bufs[(n - 2) % 3].load();
        }
        out.tile([n, 0], [1, 128]).store(total);
        sync();
    }
    sizes.tile([0], [1]).store(full([1], bufs.dim(0)));
    sizes.tile([1], [1]).store(full([1], bufs.dim(2)));
    sizes.tile([2], [1]).store(full([1], bufs.bytes()));
    sizes.tile([3], [1]).store(full([1], bufs[1].bytes()));
}
