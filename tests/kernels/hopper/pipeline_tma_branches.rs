//! Pipelined loops over TMA copies in branches, beside copies in groups: the experts of a list, of which some are none, blocks under a mask, copies
//! with a condition of their own. The loops run again and again, with odd and even numbers of iterations.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg experts: i32[7] list(3, -1, 0, 0, 2, -1, 1)
//@ arg weights: f32[4, 8, 16] list(1, -2, 3, 4, -5, 2, -1)
//@ arg x: f32[64, 16] list(2, 1, -1, 5, 0, -3, 1, -2, 4)
//@ arg bias: f32[64, 16] list(1, 0, 2, -1)
//@ arg out: f32[8, 16] poison
//@ arg guarded: f32[8, 16] poison
//@ expect out: if i < rounds { sum(k, 0, i, sum(r, 0, 8, (if experts(k) >= 0 { weights(experts(k), r, j) + bias(8 * experts(k) + r, j) } else { 0.0 }) + (if k % 2 == 1 { x(8 * k + r, j) } else { 0.0 }))) } else { 0.0 }
//@ expect guarded: sum(k, 0, rounds, (if k != 3 { x(8 * k + i, j) } else { 7.0 }))
//@ case: no iteration
//@ arg rounds: i32 scalar 0
//@ case: seven
//@ arg rounds: i32 scalar 7
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 2, grid = 1, instances(STAGES = [2, 3, 4]))]
pub fn pipeline_tma_branches<const STAGES: i32>(
    rounds: i32,
    experts: Tensor<i32, 1>,
    #[block(1, 8, 16)] weights: TensorMap<f32, 3>,
    #[block(8, 16)] x: TensorMap<f32, 2>,
    bias: Tensor<f32, 2>,
    out: TensorMut<f32, 2>,
    guarded: TensorMut<f32, 2>,
) {
    let (first, second, third) =
        (shared::<f32>([8, 16]), shared::<f32>([8, 16]), shared::<f32>([8, 16]));
    out.tile([0, 0], [8, 16]).store(zeros([8, 16]));
    for round in 0..rounds {
        let mut total = zeros::<f32>([8, 16]);
        for k in pipeline(0..round, STAGES) {
            let expert = load(experts.ptr() + k);
            if expert >= 0 {
                copy_async(weights.at([expert, 0, 0]), first);
                copy_async(bias.tile([8 * expert, 0], [8, 16]), second);
            }
            if k % 2 == 1 {
                copy_async(x.at([8 * k, 0]), third);
                total += third.load();
            }
            if expert >= 0 {
                total += first.load() + second.load();
            }
        }
        out.tile([round, 0], [1, 16]).store(total.sum(0).expand(0));
    }
    let some = shared::<f32>([8, 16]);
    let mut total = zeros::<f32>([8, 16]);
    for k in pipeline(0..rounds, STAGES) {
        copy_async(x.at([8 * k, 0]), some).when(k != 3);
        if k == 3 {
            total += 7.0;
        } else {
            total += some.load();
        }
    }
    guarded.tile([0, 0], [8, 16]).store(total);
}
