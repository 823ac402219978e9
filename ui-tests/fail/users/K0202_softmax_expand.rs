use kiln::prelude::*;

// Wrong: the row totals, shape (16), are expanded to (1, 16) by `expand(0)`; right is `total.expand(1)`, shape (16, 1), as for the maximum.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 16))]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let at = [block_id(0) * 16, 0];
    let inside = arange(0, 256).expand(0).lt(x.dim(1));
    let rows = select(inside, x.tile(at, [16, 256]).load(), f32::NEG_INFINITY);
    let shifted = rows - rows.max(1).expand(1);
    let weights = shifted.exp();
    let total = weights.sum(1);
    out.tile(at, [16, 256]).store(weights / total.expand(0));
}

fn main() {}
