//! Pipelined loops that a block comes to again and again, with odd and even numbers of iterations, one after another, and under a
//! condition: the phases of their barriers go on.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg rounds: i32 scalar 7
//@ arg x: f32[64, 64] list(1, -2, 3, 4, -5, 2, -1)
//@ arg y: f32[64, 64] list(2, 1, -1, 5, 0, -3, 1, -2, 4)
//@ arg out: f32[8, 16] poison
//@ expect out: if i < 7 { sum(n, 0, i, sum(k, 0, 8, x(8 * n + k, j))) + if i > 2 { sum(n, 0, 3, sum(k, 0, 8, y(8 * n + k, j))) } else { 0 } } else { 0 }
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 2, grid = 1, instances(STAGES = [2, 3, 4]))]
pub fn pipeline_tma_nested<const STAGES: i32>(
    rounds: i32,
    #[block(8, 16)] x: TensorMap<f32, 2>,
    #[block(8, 16)] y: TensorMap<f32, 2>,
    out: TensorMut<f32, 2>,
) {
    let (first, second) = (shared::<f32>([8, 16]), shared::<f32>([8, 16]));
    out.tile([0, 0], [8, 16]).store(zeros([8, 16]));
    for round in 0..rounds {
        let mut total = zeros::<f32>([16]);
        for n in pipeline(0..round, STAGES) {
            copy_async(x.at([8 * n, 0]), first);
            total += first.load().sum(0);
        }
        if round > 2 {
            for n in pipeline(0..3, 2) {
                copy_async(y.at([8 * n, 0]), second);
                total += second.load().sum(0);
            }
        }
        out.tile([round, 0], [1, 16]).store(total.expand(0));
    }
}
