//! Sorts and what belongs to them, of several element types; a struct and a device function on the way.
use kiln::prelude::*;

#[device]
fn routed<T: Float>(logits: Tile<T>) -> (Tile<T>, Tile<i32>) {
    let (best, experts) = logits.top_k(2, 1);
    (best - best.max(1).expand(1), experts)
}

#[kernel(target = sm_80, warps = 4, instances(K = [64, 256]))]
pub fn sorts<const K: i32>(
    x: Tensor<f16, 2>,
    tokens: Tensor<u8, 1>,
    best: TensorMut<f16, 2>,
    experts: TensorMut<i32, 2>,
    counts: TensorMut<i32, 1>,
    all: TensorMut<i32, 1>,
) {
    let x = x.tile([0, 0], [16, 64]).load();
    let (two, at) = routed(x.sort(1) + x.sort_descending(1));
    best.tile([0, 0], [16, 2]).store(two);
    experts.tile([0, 0], [16, 2]).store(at);
    let tokens = tokens.tile([0], [256]).load();
    counts.tile([0], [K]).store(tokens.histogram(K));
    let order = tokens.argsort(0) + tokens.argsort_descending(-1);
    let masks = tokens.gt(3).gather(0, order & 255);
    all.tile([0], [256]).store(select(masks, tokens.gather(0, order).cast(), -1));
}

fn main() {}
