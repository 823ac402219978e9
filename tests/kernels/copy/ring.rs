//! A ring of stages with a group for each: the oldest has arrived while newer ones are under way.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[32, N] list(1, -2, 3, 4, -5)
//@ arg out: f32[32] poison
//@ expect out: sum(k, 0, N, x(i, k))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(STAGES = [2, 3, 4], N = [16, 64, 200]))]
pub fn ring<const STAGES: i32, const N: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let bufs = shared::<f32>([STAGES, 32, 32]);
    let turns = cdiv(x.dim(1), 32);
    for stage in unroll(0..STAGES - 1) {
        if stage < turns {
            copy_async(x.tile([0, stage * 32], [32, 32]), bufs[stage]);
        }
        copy_async_commit();
    }
    let mut total = zeros::<f32>([32]);
    for turn in 0..turns {
        copy_async_wait(STAGES - 2);
        sync();
        let next = turn + STAGES - 1;
        if next < turns {
            copy_async(x.tile([0, next * 32], [32, 32]), bufs[next % STAGES]);
        }
        copy_async_commit();
        total += bufs[turn % STAGES].load().sum(1);
    }
    out.tile([0], [32]).store(total);
}
