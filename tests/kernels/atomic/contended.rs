//! One word that threads of two blocks exchange where it is what they expect: whoever comes first.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg p: ptr T[1] list(3)
//@ expect p: 7
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 2, instances(T = [f32, f64]))]
pub fn contended<T: Number>(p: Ptr<T>) {
    let here = p + arange(0, 128) * 0;
    atomic::compare_exchange(here, full([128], 3.cast::<T>()), full([128], 7.cast::<T>()));
}
