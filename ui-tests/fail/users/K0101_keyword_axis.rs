use kiln::prelude::*;

// Wrong: the axis is a keyword argument, as in `tl.argmax(scores, axis=1)`; right is `.argmax(1)`.
#[kernel(target = sm_80, warps = 4, grid = cdiv(logits.dim(0), 32))]
pub fn wrong(logits: Tensor<f16, 2>, labels: Tensor<i32, 1>, correct: TensorMut<i32, 1>) {
    let row = block_id(0) * 32;
    let inside = arange(0, 128).expand(0).lt(logits.dim(1));
    let scores = logits.tile([row, 0], [32, 128]).load().cast::<f32>();
    let predicted = select(inside, scores, f32::NEG_INFINITY).argmax(axis = 1);
    let hit = predicted.eq(labels.tile([row], [32]).load());
    let valid = (row + arange(0, 32)).lt(logits.dim(0));
    let hits = (hit & valid).cast::<i32>().sum(0);
    correct.tile([0], [1]).atomic_add(hits.expand(0));
}

fn main() {}
