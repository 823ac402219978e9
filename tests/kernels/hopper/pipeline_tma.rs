//! Pipelined loops over copies by tensor map: any number of iterations against any number of stages, maps of rank 3, element types of
//! different widths, copies in groups beside them.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg from: i32 scalar 0
//@ arg x: f32[2, 32, 256] list(1, -2, 3, 4, -5)
//@ arg y: i32[256] list(3, 1, -4, 1, 5, -9, 2, 6)
//@ arg z: f16[32, 512] list(1, 0, -2, 3, 1, 2, -1)
//@ arg out: f32[32] poison
//@ arg last: i32[32] poison
//@ arg other: f16[32, 64] poison
//@ case: no iteration
//@ arg to: i32 scalar 0
//@ case: one iteration
//@ arg to: i32 scalar 32
//@ expect out: sum(k, 0, 32, x(1, i, k))
//@ expect other: z(i, j)
//@ case: two iterations
//@ arg to: i32 scalar 33
//@ expect out: sum(k, 0, 64, x(1, i, k))
//@ case: five iterations
//@ arg to: i32 scalar 160
//@ expect out: sum(k, 0, 160, x(1, i, k))
//@ expect other: z(i, 256 + j)
//@ case: past the end of the tensor
//@ arg to: i32 scalar 320
//@ expect out: sum(k, 0, 256, x(1, i, k))
//@ case: near the end of i32
//@ arg from: i32 scalar 2147483600
//@ arg to: i32 scalar 2147483647
//@ expect out: 0.0
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1, instances(STAGES = [2, 3, 5]))]
pub fn pipeline_tma<const STAGES: i32>(
    from: i32,
    to: i32,
    #[block(1, 32, 32)] x: TensorMap<f32, 3>,
    y: Tensor<i32, 1>,
    #[block(32, 64)] z: TensorMap<f16, 2>,
    out: TensorMut<f32, 1>,
    last: TensorMut<i32, 1>,
    other: TensorMut<f16, 2>,
) {
    let columns = shared::<f32>([32, 32]);
    let numbers = shared::<i32>([32]);
    let halves = shared::<f16>([32, 64]);
    let mut total = zeros::<f32>([32]);
    let mut seen = zeros::<i32>([32]);
    let mut kept = full([32, 64], f16::of(7.0));
    for at in pipeline(range(from, to, 32), STAGES) {
        copy_async(x.at([1, 0, at]), columns);
        let numbered = at / 32 * 32;
        copy_async(y.tile([numbered], [32]), numbers);
        copy_async(z.at([0, 2 * at]), halves);
        total += columns.load().sum(1);
        seen = seen * 2 + numbers.load();
        kept = halves.load();
    }
    out.tile([0], [32]).store(total);
    last.tile([0], [32]).store(seen);
    other.tile([0, 0], [32, 64]).store(kept);
}
