//! Shared memory is cleared: a whole allocation, one buffer of a ring by an index of run time, and a tile of which a thread stores one vector
//! at most, which `st.bulk` does not write. The other buffers stay.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[32, 64] bits
//@ arg at: i32[1] fill(2)
//@ arg whole: T[64, 32] poison
//@ arg ring: T[3, 32, 64] poison
//@ arg small: T[4, 8] poison
//@ expect whole: 0
//@ expect ring: if i == 2 { 0 } else { x(j, k) }
//@ expect small: 0
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a, sm_120a], warps = W, grid = 1, instances(T = [u8, f16, i32, f32, f64], W = [1, 4]))]
pub fn cleared_shared<T: Scalar, const W: i32>(
    x: Tensor<T, 2>,
    at: Tensor<i32, 1>,
    whole: TensorMut<T, 2>,
    ring: TensorMut<T, 3>,
    small: TensorMut<T, 2>,
) {
    let start = x.tile([0, 0], [32, 64]).load();
    let all = shared::<T>([32, 64]);
    let few = shared::<T>([4, 8]);
    let bufs = shared::<T>([3, 32, 64]);
    all.store(start);
    few.store(x.tile([0, 0], [4, 8]).load());
    for i in unroll(0..3) {
        bufs[i].store(start);
    }
    sync();
    all.store(zeros([32, 64]));
    few.store(zeros([4, 8]));
    bufs[at.tile([0], [1]).load().item()].store(zeros([32, 64]));
    sync();
    whole.tile([0, 0], [64, 32]).store(all.t().load());
    small.tile([0, 0], [4, 8]).store(few.load());
    for i in unroll(0..3) {
        ring.tile([i, 0, 0], [1, 32, 64]).store(bufs[i].load().expand(0));
    }
}
