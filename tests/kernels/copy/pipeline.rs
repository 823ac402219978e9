//! Pipelined loops: any number of iterations against any number of stages, positions that are computed from the iteration, buffers of
//! different types, values that the loop carries.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[32, N] list(1, -2, 3, 4, -5)
//@ arg y: i32[N] list(3, 1, -4, 1, 5, -9, 2, 6)
//@ arg out: f32[32] poison
//@ arg last: i32[32] poison
//@ expect out: sum(k, 0, N, x(i, k))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(STAGES = [2, 3, 5], N = [16, 64, 200]))]
pub fn pipelined<const STAGES: i32, const N: i32>(
    x: Tensor<f32, 2>,
    y: Tensor<i32, 1>,
    out: TensorMut<f32, 1>,
    last: TensorMut<i32, 1>,
) {
    let columns = shared::<f32>([32, 32]);
    let numbers = shared::<i32>([32]);
    let mut total = zeros::<f32>([32]);
    let mut seen = zeros::<i32>([32]);
    for at in pipeline(range(0, x.dim(1), 32), STAGES) {
        copy_async(x.tile([0, at], [32, 32]), columns);
        let from = at / 32 * 32;
        copy_async(y.tile([from], [32]), numbers);
        total += columns.load().sum(1);
        if at > 0 {
            seen = seen * 2 + numbers.load();
        } else {
            seen += numbers.load() + from;
        }
    }
    out.tile([0], [32]).store(total);
    last.tile([0], [32]).store(seen);
}
