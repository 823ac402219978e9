//! Bytes that go from the shared memory of one block to that of another, in the order in which they lie: of plain memory, and of
//! memory with a swizzle.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f16[2, 64, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4, 5, 6)
//@ arg plain: f16[2, 64, 64] poison
//@ arg turned: f16[2, 64, 64] poison
//@ expect plain: x(1 - i, j, k) + 1
//@ expect turned: x(1 - i, k, j)
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 4, cluster = [2, 1], grid = 2)]
pub fn cluster_send(x: Tensor<f16, 3>, plain: TensorMut<f16, 3>, turned: TensorMut<f16, 3>) {
    let (rank, other) = (cluster::rank(), cluster::rank() ^ 1);
    let (from, to) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    let pair = shared::<f16>([2, 64, 64]).with_layout(swizzle(128));
    let (full, swizzled) = (barrier(1), barrier(1));
    let tile = x.tile([rank, 0, 0], [1, 64, 64]).load().reshape([64, 64]);
    from.store(tile + f16::of(1.0));
    pair[0].store(tile);
    full.expect(to.bytes());
    swizzled.expect(pair[0].bytes());
    bulk::send(from, full, to.of_block(other));
    bulk::send(pair[0], swizzled, pair[1].of_block(other)).when(rank < 2);
    full.wait(0);
    plain.tile([rank, 0, 0], [1, 64, 64]).store(to.load().expand(0));
    swizzled.wait(0);
    turned.tile([rank, 0, 0], [1, 64, 64]).store(pair[1].t().load().expand(0));
}
