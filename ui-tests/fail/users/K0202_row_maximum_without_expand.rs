// Triton: Softmax of 16 rows of 256 columns in a block. The row maxima, of shape [16], are subtracted from [16, 256] without a new axis.
// RIGHT: let e = (v - v.max(1).expand(1)).exp();
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 16))]
pub fn softmax(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let at = [block_id(0) * 16, 0];
    let inside = arange(0, 256).expand(0).lt(x.dim(1));
    let v = select(inside, x.tile(at, [16, 256]).load(), f32::NEG_INFINITY);
    let e = (v - v.max(1)).exp();
    let p = e / e.sum(1).expand(1);
    out.tile(at, [16, 256]).store(p);
}

fn main() {}
