//! Every element type; floats in the order that is specified, so that evaluator and PTX agree to the last bit.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: i8[256] uniform(-100, 100)
//@ arg b: u16[256] bits
//@ arg c: i64[256] bits
//@ arg d: f16[256] uniform(-1, 1)
//@ arg e: bf16[256] uniform(-1, 1)
//@ arg f: f64[256] uniform(-1, 1)
//@ arg a_out: i8[256] poison
//@ arg b_out: u16[256] poison
//@ arg c_out: i64[256] poison
//@ arg d_out: f16[256] poison
//@ arg e_out: bf16[256] poison
//@ arg f_out: f64[256] poison
//@ arg seen: bool[256] poison
//@ expect a_out: sum(n, 0, i + 1, a(n)) as i8
//@ expect seen: most(n, 0, i + 1, if a(n) > 90 { 1 } else { 0 }) == 1
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4]))]
#[expect(clippy::too_many_arguments, reason = "one input and one output for each type")]
pub fn types<const W: i32>(
    a: Tensor<i8, 1>,
    b: Tensor<u16, 1>,
    c: Tensor<i64, 1>,
    d: Tensor<f16, 1>,
    e: Tensor<bf16, 1>,
    f: Tensor<f64, 1>,
    a_out: TensorMut<i8, 1>,
    b_out: TensorMut<u16, 1>,
    c_out: TensorMut<i64, 1>,
    d_out: TensorMut<f16, 1>,
    e_out: TensorMut<bf16, 1>,
    f_out: TensorMut<f64, 1>,
    seen: TensorMut<bool, 1>,
) {
    a_out.tile([0], [256]).store(a.tile([0], [256]).load().cumsum(0));
    b_out.tile([0], [256]).store(b.tile([0], [256]).load().cumsum(0));
    c_out.tile([0], [256]).store(c.tile([0], [256]).load().cumsum(0));
    d_out.tile([0], [256]).store(d.tile([0], [256]).load().cumsum(0));
    e_out.tile([0], [256]).store(e.tile([0], [256]).load().cumsum(0));
    f_out.tile([0], [256]).store(f.tile([0], [256]).load().cumsum(0));
    let large = a.tile([0], [256]).load().gt(90);
    seen.tile([0], [256]).store(large.scan(0, |a, b| a | b));
}
