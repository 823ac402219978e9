//! Arrays and tuples of scalars, tiles, structs and shared memory; nested patterns; an index known when the kernel runs.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[4, 32] uniform(-9, 9)
//@ arg n: i32 scalar 2
//@ arg out: i32[5, 32] poison
//@ expect out: if i == 0 { x(0, j) + x(3, j) * 10 } else { if i == 1 { x(1, j) + x(2, j) } else { if i == 2 { 5 * n } else { if i == 3 { x(2, j) } else { 3 } } } }
//@ case: two
//@ case: one
//@ arg n: i32 scalar 1
//@ expect out: if i == 0 { x(0, j) + x(3, j) * 10 } else { if i == 1 { x(1, j) + x(2, j) } else { if i == 2 { 5 } else { if i == 3 { x(1, j) } else { 3 } } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn arrays(x: Tensor<i32, 2>, n: i32, out: TensorMut<i32, 2>) {
    struct Stage {
        buffer: Shared<i32>,
        weight: i32,
    }
    let stages = array(4, |i| Stage { buffer: shared([1, 32]), weight: if i == 3 { 10 } else { 1 } });
    for i in unroll(0..4) {
        stages[i].buffer.store(x.tile([i, 0], [1, 32]).load());
    }
    sync();
    let first = stages[0].buffer.load() * stages[0].weight;
    out.tile([0, 0], [1, 32]).store(first + stages[3].buffer.load() * stages[3].weight);
    let (a, (b, _)) = (stages[1].buffer.load(), (stages[2].buffer.load(), 5));
    out.tile([1, 0], [1, 32]).store(a + b);
    let mut table = array(3, |i| i * 5);
    table[0] = table[0] + 1;
    out.tile([2, 0], [1, 32]).store(full([1, 32], table[n]));
    let tiles = array(4, |i| x.tile([i, 0], [1, 32]).load());
    out.tile([3, 0], [1, 32]).store(tiles[n]);
    let [p, q] = [1, 2];
    out.tile([4, 0], [1, 32]).store(full([1, 32], p + q));
}
