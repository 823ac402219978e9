//! Parts of tiles in tensor memory: columns, blocks of rows, 64 rows between which another part lies, parts of parts and of one of
//! several tiles; read, written, and added to by products.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f32[256, 32] iota(-100, 3)
//@ arg b: f16[128, 32] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg c: f16[32, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg d: f32[256, 32] poison
//@ arg e: f32[128, 64] poison
//@ arg f: f32[128, 64] poison
//@ arg g: f16[128, 32] poison
//@ expect d: a(i, j)
//@ expect e: sum(n, 0, 32, b(i, n) * c(n, j))
//@ expect f: sum(n, 0, 32, b(i, n) * c(n, j))
//@ expect g: b(i, j)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = WARPS, grid = 1, instances(WARPS = [4, 8]))]
pub fn tensor_memory_parts<const WARPS: i32>(
    a: Tensor<f32, 2>,
    b: Tensor<f16, 2>,
    c: Tensor<f16, 2>,
    d: TensorMut<f32, 2>,
    e: TensorMut<f32, 2>,
    f: TensorMut<f32, 2>,
    g: TensorMut<f16, 2>,
) {
    // Blocks of rows lie side by side, and the columns of a part between those of the other.
    let tall = tmem::<f32>([256, 32]).with_layout(tmem_block([128, 8], 1));
    tall.store(a.tile([0, 0], [256, 32]).load());
    for column in unroll(0..2) {
        let half = tall.tile([0, 16 * column], [256, 16]);
        for row in unroll(0..2) {
            let part = half.tile([128 * row, 0], [128, 16]);
            d.tile([128 * row, 16 * column], [128, 16]).store(part.load());
        }
    }
    let upper = shared::<f16>([64, 32]);
    let left = shared::<f16>([128, 32]);
    let right = shared::<f16>([32, 64]);
    let narrow = shared::<f16>([32, 32]);
    let done = barrier(1);
    left.store(b.tile([0, 0], [128, 32]).load());
    right.store(c.tile([0, 0], [32, 64]).load());
    // Half of the columns of one of two tiles.
    let sums = tmem::<f32>([2, 128, 64]);
    for column in unroll(0..2) {
        narrow.store(c.tile([0, 32 * column], [32, 32]).load());
        sync();
        tcgen05::mma(left, narrow, sums[1].tile([0, 32 * column], [128, 32])).accumulate(false);
        tcgen05::commit(done);
        done.wait(column);
    }
    e.tile([0, 0], [128, 64]).store(sums[1].load());
    // Half of the rows, the others of which lie between them.
    let blocks = tmem::<f32>([128, 64]).with_layout(tmem_block([64, 64], 1));
    for row in unroll(0..2) {
        upper.store(b.tile([64 * row, 0], [64, 32]).load());
        sync();
        tcgen05::mma(upper, right, blocks.tile([64 * row, 0], [64, 64])).accumulate(false);
        tcgen05::commit(done);
        done.wait(row);
    }
    for row in unroll(0..2) {
        for column in unroll(0..2) {
            let part = blocks.tile([64 * row, 32 * column], [64, 32]);
            f.tile([64 * row, 32 * column], [64, 32]).store(part.load());
        }
    }
    // What is written by parts and read as a whole.
    let halves = tmem::<f16>([128, 32]);
    for column in unroll(0..4) {
        halves
            .tile([0, 8 * column], [128, 8])
            .store(b.tile([0, 8 * column], [128, 8]).load());
    }
    g.tile([0, 0], [128, 32]).store(halves.load());
}
