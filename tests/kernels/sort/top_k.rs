//! The largest elements of each line and their indices: of equal ones the first index comes first, NaN comes last. As many as there are is a whole
//! sort, one is the maximum.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[4, 16] uniform(-20, 20)
//@ arg y: f32[16, 8] list(nan, 1, 5, nan, 5, 2, -3, -3, inf, nan, -inf, 0, 0.5)
//@ arg z: f64[16] uniform(-1, 1)
//@ arg values: i32[4, 8] poison
//@ arg indices: i32[4, 8] poison
//@ arg first: i32[4, 1] poison
//@ arg first_index: i32[4, 1] poison
//@ arg all: i32[4, 16] poison
//@ arg all_indices: i32[4, 16] poison
//@ arg columns: i32[2, 16] poison
//@ arg floats: f32[4, 8] poison
//@ arg float_indices: i32[4, 8] poison
//@ arg doubles: f64[8] poison
//@ arg double_indices: i32[8] poison
//@ expect values: sum(n, 0, 16, if sum(m, 0, 16, if x(i, m) > x(i, n) || x(i, m) == x(i, n) && m < n { 1 } else { 0 }) == j { x(i, n) } else { 0 })
//@ expect indices: sum(n, 0, 16, if sum(m, 0, 16, if x(i, m) > x(i, n) || x(i, m) == x(i, n) && m < n { 1 } else { 0 }) == j { n } else { 0 })
//@ expect first: most(n, 0, 16, x(i, n))
//@ expect first_index: least(n, 0, 16, if x(i, n) == most(m, 0, 16, x(i, m)) { n } else { 16 })
//@ expect all: sum(n, 0, 16, if sum(m, 0, 16, if x(i, m) > x(i, n) || x(i, m) == x(i, n) && m < n { 1 } else { 0 }) == j { x(i, n) } else { 0 })
//@ expect all_indices: sum(n, 0, 16, if sum(m, 0, 16, if x(i, m) > x(i, n) || x(i, m) == x(i, n) && m < n { 1 } else { 0 }) == j { n } else { 0 })
//@ expect columns: sum(n, 0, 4, if sum(m, 0, 4, if x(m, j) > x(n, j) || x(m, j) == x(n, j) && m < n { 1 } else { 0 }) == i { n } else { 0 })
//@ expect float_indices: sum(n, 0, 16, if sum(m, 0, 16, if y(m, j) > y(n, j) || y(n, j) != y(n, j) && y(m, j) == y(m, j) || (y(m, j) == y(n, j) || y(m, j) != y(m, j) && y(n, j) != y(n, j)) && m < n { 1 } else { 0 }) == i { n } else { 0 })
//@ expect double_indices: sum(n, 0, 16, if sum(m, 0, 16, if z(m) > z(n) || z(m) == z(n) && m < n { 1 } else { 0 }) == i { n } else { 0 })
//@ expect doubles: most(n, 0, 16, if sum(m, 0, 16, if z(m) > z(n) { 1 } else { 0 }) == i { z(n) } else { -2.0 })
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4]))]
#[expect(clippy::too_many_arguments, reason = "two outputs for each shape")]
pub fn top_k<const W: i32>(
    x: Tensor<i32, 2>,
    y: Tensor<f32, 2>,
    z: Tensor<f64, 1>,
    values: TensorMut<i32, 2>,
    indices: TensorMut<i32, 2>,
    first: TensorMut<i32, 2>,
    first_index: TensorMut<i32, 2>,
    all: TensorMut<i32, 2>,
    all_indices: TensorMut<i32, 2>,
    columns: TensorMut<i32, 2>,
    floats: TensorMut<f32, 2>,
    float_indices: TensorMut<i32, 2>,
    doubles: TensorMut<f64, 1>,
    double_indices: TensorMut<i32, 1>,
) {
    let x = x.tile([0, 0], [4, 16]).load();
    let (eight, eight_at) = x.top_k(8, 1);
    values.tile([0, 0], [4, 8]).store(eight);
    indices.tile([0, 0], [4, 8]).store(eight_at);
    let (one, one_at) = x.top_k(1, -1);
    first.tile([0, 0], [4, 1]).store(one);
    first_index.tile([0, 0], [4, 1]).store(one_at);
    let (whole, whole_at) = x.top_k(16, 1);
    all.tile([0, 0], [4, 16]).store(whole);
    all_indices.tile([0, 0], [4, 16]).store(whole_at);
    columns.tile([0, 0], [2, 16]).store(x.top_k(2, 0).1);
    let (four, four_at) = y.tile([0, 0], [16, 8]).load().top_k(4, 0);
    floats.tile([0, 0], [4, 8]).store(four);
    float_indices.tile([0, 0], [4, 8]).store(four_at);
    let (doubled, doubled_at) = z.tile([0], [16]).load().top_k(8, 0);
    doubles.tile([0], [8]).store(doubled);
    double_indices.tile([0], [8]).store(doubled_at);
}
