//! Scalars of every type that only the kernel's own warps know, and a window of shared memory that a branch chooses.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[64] bits
//@ arg n: i32 scalar 3
//@ arg out: T[2, 64] poison
//@ expect out: if i == 0 { x(5) } else { x(j) }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1, instances(T = [bool, i8, u8, i16, i32, u32, i64, f16, bf16, f32, f64]))]
pub fn handed_types<T: Scalar>(x: Tensor<T, 1>, n: i32, out: TensorMut<T, 2>) {
    let ring = shared::<T>([2, 64]);
    let mut slot = ring[0];
    if n > 2 {
        slot = ring[1];
    }
    slot.store(x.tile([0], [64]).load());
    let one = x.tile([5], [1]).load().item();
    warp_specialize(
        || out.tile([0, 0], [1, 32]).store(full([1, 32], one)),
        [
            partition(1).run(|| out.tile([0, 32], [1, 32]).store(full([1, 32], one))),
            partition(4).run(|| out.tile([1, 0], [1, 64]).store(slot.load().expand(0))),
        ],
    );
}
