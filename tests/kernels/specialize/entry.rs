//! The entry of a specialised kernel: where warps go, what they hand over, who meets whom, whose registers move.
//@ run: eval, emulate, gpu
//@ snapshot: ir, ptx
//@ compare: exact
//@ arg x: i32[128] uniform(-1000, 1000)
//@ arg n: i32 scalar 3
//@ arg out: i32[3] poison
//@ expect out: if i == 0 { sum(k, 0, 128, x(k)) } else { if i == 1 { n * 2 + sum(k, 0, 128, x(k)) } else { 7 } }
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn entry(x: Tensor<i32, 1>, n: i32, out: TensorMut<i32, 1>) {
    let total = x.tile([0], [128]).load().sum(0).item();
    let twice = n * 2;
    warp_specialize(
        || out.tile([0], [1]).store(full([1], total)),
        [partition(1).registers(24).run(|| out.tile([1], [1]).store(full([1], twice + total)))],
    );
    out.tile([2], [1]).store(full([1], 7));
}
