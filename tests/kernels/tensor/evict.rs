//! Windows with a priority in the cache: loads and stores of whole and ragged ones, of every width.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[60, 56] bits
//@ arg y: T[60, 56] poison
//@ arg z: T[60, 56] poison
//@ expect y: x(i, j)
//@ expect z: x(i, j)
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = 1, instances(T = [u8, f16, f32, f64]))]
pub fn evict<T: Number>(x: Tensor<T, 2>, y: TensorMut<T, 2>, z: TensorMut<T, 2>) {
    let kept = x.tile([0, 0], [64, 64]).evict_last();
    let once = x.tile([0, 0], [64, 64]).evict_first();
    y.tile([0, 0], [64, 64]).evict_first().store(kept.load());
    z.tile([0, 0], [64, 64]).evict_last().store(once.load());
    let back = z.tile([0, 0], [64, 64]).evict_first().load();
    z.tile([0, 0], [64, 64]).store(back);
}
