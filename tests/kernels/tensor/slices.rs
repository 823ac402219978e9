//! Slices of slices, of either of two, in loops, of rank 1 and 3, passed on, their addresses, and atomic operations on them.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[4, 20, 8] list(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
//@ arg lengths: i32[4] list(5, 0, 20, 33)
//@ arg flat: i32[50] list(3, 1, 4, 1, 5, 9, 2, 6)
//@ arg late: bool scalar true
//@ arg sums: f32[4, 8] poison
//@ arg inner: i32[32] poison
//@ arg chosen: i32[32] poison
//@ arg counts: i32[50] list(0, 1, 2)
//@ arg old: i32[32] poison
//@ arg at: i32[1] poison
//@ expect sums: sum(n, 0, min(lengths(i), 20), x(i, n, j))
//@ expect inner: if i < 9 { flat(i + 16) } else { 0 }
//@ expect chosen: if late { if i < 10 { flat(i + 40) } else { 0 } } else { if i < 7 { flat(i) } else { 0 } }
//@ expect counts: if (i >= 30) && (i < 41) { i - i / 3 * 3 + 100 } else { i - i / 3 * 3 }
//@ expect old: if i < 11 { (i + 30) - (i + 30) / 3 * 3 } else { 0 }
//@ expect at: flat(37)
//@ case: the later part
//@ case: the earlier part
//@ arg late: bool scalar false
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 2, grid = 1)]
#[expect(clippy::too_many_arguments, reason = "each is a result of its own")]
pub fn slices(
    x: Tensor<f32, 3>,
    lengths: Tensor<i32, 1>,
    flat: Tensor<i32, 1>,
    late: bool,
    sums: TensorMut<f32, 2>,
    inner: TensorMut<i32, 1>,
    chosen: TensorMut<i32, 1>,
    counts: TensorMut<i32, 1>,
    old: TensorMut<i32, 1>,
    at: TensorMut<i32, 1>,
) {
    fn first_32(x: Tensor<i32, 1>) -> Tile<i32> {
        x.tile([0], [32]).load()
    }
    for b in range(0, 4, 1) {
        let mine = x.slice((b..b + 1, 0..load(lengths.ptr() + b), ..));
        let mut sum = zeros([8]);
        for i in range(0, mine.dim(1), 4) {
            sum = sum + mine.tile([0, i, 0], [1, 4, 8]).load().reshape([4, 8]).sum(0);
        }
        sums.tile([b, 0], [1, 8]).store(sum.reshape([1, 8]));
    }
    // The second one cannot reach beyond the first.
    let outer = flat.slice(10..25);
    inner.tile([0], [32]).store(first_32(outer.slice(6..1000)));
    let mut part = flat.slice(0..7);
    if late {
        part = flat.slice(40..);
    }
    chosen.tile([0], [32]).store(first_32(part));
    let some = counts.slice(30..41);
    old.tile([0], [32]).store(some.tile([0], [32]).atomic_add(full([32], 100)));
    at.tile([0], [1]).store(full([1], load(outer.slice(20..30).ptr() - 25 + 37)));
}
