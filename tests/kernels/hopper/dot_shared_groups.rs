//! The same with copies in groups, which threads write and warpgroups read: a fence comes between.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[64, 112] list(1, -2, 3, 0, 2, -1, 1, -3, 1, 0, -1)
//@ arg b: f16[112, 32] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[64, 32] poison
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = 1, instances(STAGES = [2, 3]))]
pub fn dot_shared_groups<const STAGES: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<f16>([64, 32]), shared::<f16>([32, 32]));
    let mut acc = zeros::<f32>([64, 32]);
    for k in pipeline(range(0, a.dim(1), 32), STAGES) {
        copy_async(a.tile([0, k], [64, 32]), sa);
        copy_async(b.tile([k, 0], [32, 32]), sb);
        acc = dot(sa, sb, acc);
    }
    c.tile([0, 0], [64, 32]).store(acc);
}
