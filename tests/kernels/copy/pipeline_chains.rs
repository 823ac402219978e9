//! Pipelined loops whose copies read where an index of an index says: of two, three and four loads one after the other; a copy that takes both
//! the index and the index of it; two copies with an index in common; an index that is asserted before it is used. No index is read past the end of its tensor.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg cache: f32[64, 64] list(1, -2, 3, 4, -5)
//@ arg pages: i32[8] list(6, 2, 7, 0, 5, 3, 1, 4)
//@ arg two: f32[8, 32] poison
//@ arg three: f32[8, 32] poison
//@ arg four: f32[8, 32] poison
//@ arg both: f32[8, 32] poison
//@ arg shared_by: f32[8, 32] poison
//@ expect two: sum(k, 0, n, cache(8 * pages(order(k)) + i, j))
//@ expect three: sum(k, 0, n, cache(8 * pages(pages(order(k))) + i, j))
//@ expect four: sum(k, 0, n, cache(8 * pages(pages(pages(order(k)))) + i, j))
//@ expect both: sum(k, 0, n, cache(8 * pages(order(k)) + i, j + 32 * (order(k) % 2)))
//@ expect shared_by: sum(k, 0, n, cache(8 * pages(order(k)) + i, j) + cache(8 * pages(7 - order(k)) + i, j))
//@ case: no iteration
//@ arg n: i32 scalar 0
//@ arg order: i32[1] list(7)
//@ case: one iteration
//@ arg n: i32 scalar 1
//@ arg order: i32[1] list(7)
//@ case: two iterations
//@ arg n: i32 scalar 2
//@ arg order: i32[2] list(7, 3)
//@ case: seven iterations
//@ arg n: i32 scalar 7
//@ arg order: i32[7] list(7, 3, 3, 0, 5, 1, 6)
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 2, grid = 1, instances(STAGES = [2, 3, 5]))]
#[expect(clippy::too_many_arguments, reason = "each is a result of its own")]
pub fn pipeline_chains<const STAGES: i32>(
    n: i32,
    order: Tensor<i32, 1>,
    pages: Tensor<i32, 1>,
    cache: Tensor<f32, 2>,
    two: TensorMut<f32, 2>,
    three: TensorMut<f32, 2>,
    four: TensorMut<f32, 2>,
    both: TensorMut<f32, 2>,
    shared_by: TensorMut<f32, 2>,
) {
    let page = shared::<f32>([8, 32]);
    let mut total = zeros::<f32>([8, 32]);
    for k in pipeline(0..n, STAGES) {
        let at = load(pages.ptr() + load(order.ptr() + k));
        copy_async(cache.tile([at * 8, 0], [8, 32]), page);
        total += page.load();
    }
    two.tile([0, 0], [8, 32]).store(total);

    let next = shared::<f32>([8, 32]);
    let mut total = zeros::<f32>([8, 32]);
    for k in pipeline(0..n, STAGES) {
        let first = load(order.ptr() + k);
        assert!(first < 8 && first >= 0);
        let second = load(pages.ptr() + first);
        assert!(second < 8 && second >= 0);
        let at = load(pages.ptr() + second);
        assert!(at < 8);
        copy_async(cache.tile([at * 8, 0], [8, 32]), next);
        total += next.load();
    }
    three.tile([0, 0], [8, 32]).store(total);

    let last = shared::<f32>([8, 32]);
    let mut total = zeros::<f32>([8, 32]);
    for k in pipeline(0..n, STAGES) {
        let second = load(pages.ptr() + load(order.ptr() + k));
        let at = load(pages.ptr() + load(pages.ptr() + second));
        copy_async(cache.tile([at * 8, 0], [8, 32]), last);
        total += last.load();
    }
    four.tile([0, 0], [8, 32]).store(total);

    let half = shared::<f32>([8, 32]);
    let mut total = zeros::<f32>([8, 32]);
    for k in pipeline(range(0, n, 1), STAGES) {
        let index = load(order.ptr() + k);
        let at = load(pages.ptr() + index);
        copy_async(cache.tile([at * 8, index % 2 * 32], [8, 32]), half);
        total += half.load();
    }
    both.tile([0, 0], [8, 32]).store(total);

    let (left, other) = (shared::<f32>([8, 32]), shared::<f32>([8, 32]));
    let mut total = zeros::<f32>([8, 32]);
    for k in pipeline(0..n, STAGES) {
        let index = load(order.ptr() + k);
        copy_async(cache.tile([load(pages.ptr() + index) * 8, 0], [8, 32]), left);
        copy_async(cache.tile([load(pages.ptr() + 7 - index) * 8, 0], [8, 32]), other);
        total += left.load() + other.load();
    }
    shared_by.tile([0, 0], [8, 32]).store(total);
}
