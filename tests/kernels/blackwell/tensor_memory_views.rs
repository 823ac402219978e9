//! Columns of tensor memory as elements of another type: the words of bytes, a column for each half, the copies that a store has
//! written to all four warps, and scores that are rounded where they lie to be A of the next product, as in attention.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: u32[128, 8] bits
//@ arg b: u8[32, 16] iota(0, 1)
//@ arg q: bf16[128, 32] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg k: bf16[32, 64] list(-1, 1, 0, 1, 1, -1, 1)
//@ arg v: bf16[64, 32] list(2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
//@ arg c: u8[128, 32] poison
//@ arg d: u32[128, 8] poison
//@ arg e: u8[128, 16] poison
//@ arg o: f32[128, 32] poison
//@ expect d: a(i, j)
//@ expect e: b(i % 32, j)
//@ expect o: 2 * sum(n, 0, 32, q(i, n) * k(n, j)) + if j < 31 { 2 * sum(n, 0, 32, q(i, n) * k(n, j + 33)) } else { 0 }
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn tensor_memory_views(
    a: Tensor<u32, 2>,
    b: Tensor<u8, 2>,
    q: Tensor<bf16, 2>,
    k: Tensor<bf16, 2>,
    v: Tensor<bf16, 2>,
    c: TensorMut<u8, 2>,
    d: TensorMut<u32, 2>,
    e: TensorMut<u8, 2>,
    o: TensorMut<f32, 2>,
) {
    let words = tmem::<u32>([128, 8]);
    let bytes = words.view::<u8>([128, 32]);
    words.store(a.tile([0, 0], [128, 8]).load());
    let x = bytes.load();
    c.tile([0, 0], [128, 32]).store(x);
    words.store(zeros([128, 8]));
    bytes.store(x);
    d.tile([0, 0], [128, 8]).store(words.load());
    let all = tmem::<u8>([2, 128, 16]);
    all[1]
        .view::<u8>([32, 16])
        .with_layout(layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]))
        .store(b.tile([0, 0], [32, 16]).load());
    e.tile([0, 0], [128, 16]).store(all[1].load());
    let (queries, keys) = (shared::<bf16>([128, 32]), shared::<bf16>([32, 64]));
    let values = shared::<bf16>([64, 32]);
    let scores = tmem::<f32>([128, 64]);
    let sums = tmem::<f32>([128, 32]);
    let done = barrier(1);
    queries.store(q.tile([0, 0], [128, 32]).load());
    keys.store(k.tile([0, 0], [32, 64]).load());
    values.store(v.tile([0, 0], [64, 32]).load());
    tcgen05::mma(queries, keys, scores).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    let rounded = scores.view::<bf16>([128, 64]);
    rounded.store(scores.load().cast::<bf16>());
    tcgen05::mma(rounded, values, sums).accumulate(false);
    tcgen05::commit(done);
    done.wait(1);
    o.tile([0, 0], [128, 32]).store(sums.load());
}
