//! Loops that cannot be pipelined, each for another reason.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn waits_itself(a: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 32]);
    for k in pipeline(range(0, a.dim(1), 32), 3) {
        copy_async(a.tile([0, k], [64, 32]), s);
        copy_async_wait_all();
        out.tile([0, k], [64, 32]).store(s.load());
    }
}

#[kernel(target = sm_80, warps = 4)]
pub fn copies_last(a: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 32]);
    for k in pipeline(range(0, a.dim(1), 32), 3) {
        out.tile([0, k], [64, 32]).store(s.load());
        copy_async(a.tile([0, k], [64, 32]), s);
    }
}

#[kernel(target = sm_80, warps = 4)]
pub fn follows_a_chain(a: Tensor<f16, 2>, next: Tensor<i32, 1>, out: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 32]);
    let mut at = 0;
    for _k in pipeline(0..8, 3) {
        copy_async(a.tile([0, at], [64, 32]), s);
        out.tile([0, at], [64, 32]).store(s.load());
        at += next.dim(0);
    }
}

#[kernel(target = sm_80, warps = 4)]
pub fn reads_after_the_loop(a: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 32]);
    for k in pipeline(range(0, a.dim(1), 32), 3) {
        copy_async(a.tile([0, k], [64, 32]), s);
    }
    out.tile([0, 0], [64, 32]).store(s.load());
}

#[kernel(target = sm_80, warps = 4)]
pub fn leaves(a: Tensor<f16, 2>, n: i32, out: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 32]);
    for k in pipeline(range(0, a.dim(1), 32), 3) {
        copy_async(a.tile([0, k], [64, 32]), s);
        out.tile([0, k], [64, 32]).store(s.load());
        if k == n {
            break;
        }
    }
}

#[kernel(target = sm_80, warps = 4)]
pub fn skips(a: Tensor<f16, 2>, n: i32, out: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 32]);
    for k in pipeline(range(0, a.dim(1), 32), 3) {
        copy_async(a.tile([0, k], [64, 32]), s);
        if k == n {
            continue;
        }
        out.tile([0, k], [64, 32]).store(s.load());
    }
}

#[kernel(target = sm_80, warps = 4)]
pub fn ends(a: Tensor<f16, 2>, n: i32, out: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 32]);
    for k in pipeline(range(0, a.dim(1), 32), 3) {
        copy_async(a.tile([0, k], [64, 32]), s);
        if k == n {
            return;
        }
        out.tile([0, k], [64, 32]).store(s.load());
    }
}

#[kernel(target = sm_80, warps = 4)]
pub fn one_stage(a: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 32]);
    for k in pipeline(range(0, a.dim(1), 32), 1) {
        copy_async(a.tile([0, k], [64, 32]), s);
        out.tile([0, k], [64, 32]).store(s.load());
    }
}

#[kernel(target = sm_80, warps = 4)]
pub fn fills_a_ring(a: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    let s = shared::<f16>([2, 64, 32]);
    for k in pipeline(range(0, a.dim(1), 32), 3) {
        copy_async(a.tile([0, k], [64, 32]), s[k % 2]);
        out.tile([0, k], [64, 32]).store(s[k % 2].load());
    }
}

#[kernel(target = sm_80, warps = 4)]
pub fn counts_too_far(a: Tensor<f16, 2>, n: i32, out: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 32]);
    for k in pipeline(range(0, n, 1_000_000_000), 4) {
        copy_async(a.tile([0, k], [64, 32]), s);
        out.tile([0, k], [64, 32]).store(s.load());
    }
}

fn main() {}
