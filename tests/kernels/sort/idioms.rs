//! What is written with sorts and gathers: runs of equal elements, ranks, pairs in the order of their keys, the element that each row asks for.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[64] uniform(0, 10)
//@ arg y: f32[4, 16] uniform(-1, 1)
//@ arg target: i32[4] list(3, 15, 0, 9)
//@ arg keys: u32[64] bits
//@ arg run: i32[64] poison
//@ arg runs: i32[1] poison
//@ arg rank: i32[4, 16] poison
//@ arg asked: f32[4] poison
//@ arg values: i32[64] poison
//@ expect run: sum(v, 0, 11, if sum(n, 0, 64, if x(n) < v { 1 } else { 0 }) <= i && sum(n, 0, 64, if x(n) == v { 1 } else { 0 }) > 0 { 1 } else { 0 }) - 1
//@ expect runs: sum(v, 0, 11, min(sum(n, 0, 64, if x(n) == v { 1 } else { 0 }), 1))
//@ expect rank: sum(n, 0, 16, if y(i, n) > y(i, j) { 1 } else { 0 })
//@ expect asked: y(i, target(i))
//@ expect values: sum(n, 0, 64, if sum(m, 0, 64, if keys(m) < keys(n) { 1 } else { 0 }) == i { n * 10 } else { 0 })
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4]))]
#[expect(clippy::too_many_arguments, reason = "one output for each of them")]
pub fn idioms<const W: i32>(
    x: Tensor<i32, 1>,
    y: Tensor<f32, 2>,
    target: Tensor<i32, 1>,
    keys: Tensor<u32, 1>,
    run: TensorMut<i32, 1>,
    runs: TensorMut<i32, 1>,
    rank: TensorMut<i32, 2>,
    asked: TensorMut<f32, 1>,
    values: TensorMut<i32, 1>,
) {
    let sorted = x.tile([0], [64]).load().sort(0);
    let at = arange(0, 64);
    let begins = sorted.ne(sorted.gather(0, at - 1)) | at.eq(0);
    let number = select(begins, full([64], 1), 0).cumsum(0);
    run.tile([0], [64]).store(number - 1);
    runs.tile([0], [1]).store(number.max(0).expand(0));
    let y = y.tile([0, 0], [4, 16]).load();
    rank.tile([0, 0], [4, 16]).store(y.argsort_descending(1).argsort(1));
    let target = target.tile([0], [4]).load();
    asked.tile([0], [4]).store(y.gather(1, target.expand(1)).reshape([4]));
    let order = keys.tile([0], [64]).load().argsort(0);
    values.tile([0], [64]).store((arange(0, 64) * 10).gather(0, order));
}
