//! A histogram; the elements outside of the tensor fall into a bin of their own.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[1000] uniform(0, 15)
//@ arg bins: ptr i32[17] fill(0)
//@ expect bins: if i == 16 { 24 } else { sum(n, 0, 1000, if x(n) == i { 1 } else { 0 }) }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 4)]
pub fn masked_histogram(x: Tensor<i32, 1>, bins: Ptr<i32>) {
    let start = block_id(0) * 256;
    let inside = (start + arange(0, 256)).lt(x.dim(0));
    let at = select(inside, x.tile([start], [256]).load(), 16);
    atomic::add(bins + at, full([256], 1));
}
