use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Ptr<f32>, y: Tensor<f32, 2>, n: i32) {
    let at = arange(0, 128);
    let inside = at.lt(n);
    store(x + at, load(x + at, inside, 1.0), inside);
    let tile = y.tile([0, 0], [64, 32]).load();
    let other = tile.permute(1, 0) + zeros::<f32>(32, 64);
    let (least, at) = tile.min(0, true);
    store(x + at, least.sum(0) + other.sum(0).cumprod(0, true));
    y.tile([0, 0], [64, 32]).load("evict_last");
}

fn main() {}
