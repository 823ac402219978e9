//! Blocks that take over the work of clusters that have not begun: each row of the result is written once, whoever does it. By single blocks, and by clusters
//! of two, of which the first block asks and both are answered.
//@ run: eval, emulate
//@ compare: exact
//@ arg x: f32[24, 64] uniform(-8, 8)
//@ arg y: f32[24, 64] list(0)
//@ expect y: 2 * x(i, j)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 2, cluster = [CLUSTER, 1], grid = [6, 4], instances(CLUSTER = [1, 2]))]
pub fn try_cancel<const CLUSTER: i32>(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let answer = shared::<u32>([4]);
    let told = barrier(1);
    let (mut column, mut row, mut phase, mut more) = (block_id(0), block_id(1), 0, true);
    while more {
        // The next one is asked for while this one is computed.
        told.expect(16);
        cluster::try_cancel(answer, told);
        let at = 6 * row + column;
        let before = y.tile([at, 0], [1, 64]).load();
        y.tile([at, 0], [1, 64]).store(before + x.tile([at, 0], [1, 64]).load() * 2.0);
        told.wait(phase);
        phase ^= 1;
        more = cluster::is_canceled(answer);
        column = cluster::canceled_block_id(answer, 0);
        row = cluster::canceled_block_id(answer, 1);
        // All threads of both blocks have read the answer.
        cluster::sync();
    }
}
