//! Means and variances by merging (Welford, Chan), against two passes: of rows, of columns, and of a whole tile of rank 3 by
//! several axes at once. Extents of 1 are among them, and a count that is broadcast.
//@ run: eval, emulate, gpu
//@ compare: rtol=2e-5 atol=2e-5
//@ arg x: f32[M, N] uniform(90, 110)
//@ arg y: f32[4, 2, 64] uniform(-1, 1)
//@ arg means: f32[M] poison
//@ arg variances: f32[M] poison
//@ arg column_means: f32[N] poison
//@ arg column_variances: f32[N] poison
//@ arg planes: f32[2, 2] poison
//@ expect means: sum(n, 0, N, x(i, n)) / N
//@ expect variances: sum(n, 0, N, (x(i, n) - sum(m, 0, N, x(i, m)) / N) * (x(i, n) - sum(m, 0, N, x(i, m)) / N)) / N
//@ expect column_means: sum(n, 0, M, x(n, i)) / M
//@ expect column_variances: sum(n, 0, M, (x(n, i) - sum(m, 0, M, x(m, i)) / M) * (x(n, i) - sum(m, 0, M, x(m, i)) / M)) / M
//@ expect planes: if i == 0 { sum(p, 0, 4, sum(q, 0, 64, y(p, j, q))) / 256 } else { 256 }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(M = [1, 16], N = [1, 128], W = [1, 8]))]
#[expect(clippy::too_many_arguments, reason = "means and variances of three kinds")]
pub fn welford<const M: i32, const N: i32, const W: i32>(
    x: Tensor<f32, 2>,
    y: Tensor<f32, 3>,
    means: TensorMut<f32, 1>,
    variances: TensorMut<f32, 1>,
    column_means: TensorMut<f32, 1>,
    column_variances: TensorMut<f32, 1>,
    planes: TensorMut<f32, 2>,
) {
    fn merge(a: (f32, f32, f32), b: (f32, f32, f32)) -> (f32, f32, f32) {
        let (mean, squares, count) = a;
        let (other_mean, other_squares, other_count) = b;
        let all = count + other_count;
        let (delta, part) = (other_mean - mean, other_count / all);
        (mean + delta * part, squares + other_squares + delta * delta * count * part, all)
    }
    let x = x.tile([0, 0], [M, N]).load();
    let (squares, count) = (zeros::<f32>([M, N]), full::<f32>([1, 1], 1.0));
    let (mean, square, count_of_row) = (x, squares, count).reduce(1, |a, b| merge(a, b));
    means.tile([0], [M]).store(mean);
    variances.tile([0], [M]).store(square / count_of_row);
    let (mean, square, count_of_column) = (x, squares, count).reduce(-2, |a, b| merge(a, b));
    column_means.tile([0], [N]).store(mean);
    column_variances.tile([0], [N]).store(square / count_of_column);
    let y = y.tile([0, 0, 0], [4, 2, 64]).load();
    let ones = full::<f32>([4, 2, 64], 1.0);
    let (mean, _, count) = (y, zeros::<f32>([4, 2, 64]), ones).reduce([0, -1], |a, b| merge(a, b));
    planes.tile([0, 0], [2, 2]).store(join(mean, count).t());
}
