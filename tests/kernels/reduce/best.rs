//! The greatest element with what stands beside it, the first of equal ones; the closure is an `if` over tuples. The last axis but
//! one of rank 3, the only axis, and an axis of extent 1.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg scores: i16[2, 64, 8] uniform(-5, 5)
//@ arg labels: i64[2, 64, 8] bits
//@ arg line: f32[256] uniform(-1, 1)
//@ arg marks: bool[256] list(0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 1)
//@ arg best: i16[2, 8] poison
//@ arg label: i64[2, 8] poison
//@ arg top: f32[1] poison
//@ arg mark: bool[1] poison
//@ arg place: i32[1] poison
//@ arg alone: i16[2, 64, 8] poison
//@ expect best: most(n, 0, 64, scores(i, n, j))
//@ expect label: labels(i, least(n, 0, 64, if scores(i, n, j) == most(m, 0, 64, scores(i, m, j)) { n } else { 64 }), j)
//@ expect top: most(n, 0, 256, line(n))
//@ expect mark: marks(least(n, 0, 256, if line(n) == most(m, 0, 256, line(m)) { n } else { 256 }))
//@ expect place: least(n, 0, 256, if line(n) == most(m, 0, 256, line(m)) { n } else { 256 })
//@ expect alone: scores(i, j, k)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4, 8]))]
#[expect(clippy::too_many_arguments, reason = "one output for each result")]
pub fn best<const W: i32>(
    scores: Tensor<i16, 3>,
    labels: Tensor<i64, 3>,
    line: Tensor<f32, 1>,
    marks: Tensor<bool, 1>,
    best: TensorMut<i16, 2>,
    label: TensorMut<i64, 2>,
    top: TensorMut<f32, 1>,
    mark: TensorMut<bool, 1>,
    place: TensorMut<i32, 1>,
    alone: TensorMut<i16, 3>,
) {
    let scores = scores.tile([0, 0, 0], [2, 64, 8]).load();
    let labels = labels.tile([0, 0, 0], [2, 64, 8]).load();
    let positions = arange(0, 64).reshape([1, 64, 1]);
    let (score, name, _) = (scores, labels, positions).reduce(1, |(a, x, i), (b, y, j)| {
        if b > a || (b == a && j < i) { (b, y, j) } else { (a, x, i) }
    });
    best.tile([0, 0], [2, 8]).store(score);
    label.tile([0, 0], [2, 8]).store(name);
    let line = line.tile([0], [256]).load();
    let marks = marks.tile([0], [256]).load();
    let (greatest, (marked, at)) =
        (line, (marks, arange(0, 256))).reduce(0, |(a, (x, i)), (b, (y, j))| {
            if b > a || (b == a && j < i) { (b, (y, j)) } else { (a, (x, i)) }
        });
    top.tile([0], [1]).store(greatest.expand(0));
    mark.tile([0], [1]).store(marked.expand(0));
    place.tile([0], [1]).store(at.expand(0));
    let thin = scores.reshape([2, 64, 1, 8]);
    let (only, _) = (thin, thin).reduce(2, |(a, x), (b, y)| (a + b, x - y));
    alone.tile([0, 0, 0], [2, 64, 8]).store(only);
}
