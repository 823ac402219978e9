//! Sums of bf16 in shared memory, of numbers that any order adds exactly.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: bf16[256] list(1, 2, -1, 3, 0, -2)
//@ arg sums: bf16[8] poison
//@ expect sums: sum(k, 0, 256, if k % 8 == i { x(k) } else { 0 })
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn sums_of_bf16_by_index(x: Tensor<bf16, 1>, sums: TensorMut<bf16, 1>) {
    let bins = shared::<bf16>([8]);
    bins.store(zeros([8]));
    sync();
    bins.atomic_add(arange(0, 256) & 7, x.tile([0], [256]).load());
    sync();
    sums.tile([0], [8]).store(bins.load());
}
