//! A histogram in shared memory: all threads change a few elements, whose old values are different; what is outside is left out.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[1000] uniform(-1, 16)
//@ arg bins: i32[16] fill(0)
//@ arg flags: u32[16] fill(0)
//@ arg tickets: i32[4] poison
//@ expect bins: sum(n, 0, 1000, if x(n) == i { 1 } else { 0 })
//@ expect flags: if sum(n, 0, 1000, if x(n) == i { 1 } else { 0 }) > 0 { 5 } else { 0 }
//@ expect tickets: 128 * (i + 1) * (128 * (i + 1) - 1) / 2
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = W, grid = 4, instances(W = [1, 4]))]
pub fn histogram<const W: i32>(
    x: Tensor<i32, 1>,
    bins: TensorMut<i32, 1>,
    flags: TensorMut<u32, 1>,
    tickets: TensorMut<i32, 1>,
) {
    let counts = shared::<i32>([16]);
    let marks = shared::<u32>([16]);
    let counter = shared::<i32>([1]);
    counts.store(zeros([16]));
    marks.store(zeros([16]));
    counter.store(zeros([1]));
    sync();
    let start = block_id(0) * 256;
    let inside = (start + arange(0, 256)).lt(x.dim(0));
    let at = select(inside, x.tile([start], [256]).load(), 16);
    counts.atomic_add(at, full([256], 1));
    marks.atomic_or(at, full([256], 4u32));
    marks.atomic_or(at.reshape([16, 16]), full([16, 16], 1u32));
    // Each of these takes a ticket of its own.
    let mut taken = zeros::<i32>([128]);
    for n in 0..block_id(0) + 1 {
        taken = taken + counter.atomic_add(zeros([128]), full([128], 1));
    }
    tickets.tile([block_id(0)], [1]).store(taken.sum(0).expand(0));
    sync();
    bins.tile([0], [16]).atomic_add(counts.load());
    flags.tile([0], [16]).atomic_or(marks.load());
}
