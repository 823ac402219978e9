// Triton: LayerNorm of BERT rows of 768 elements, one block a row. `arange` of 768 elements: an extent has to be a power of two.
// RIGHT: let cols = arange(0, 1024); // and load_masked / store_masked with cols.lt(768)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = rows)]
pub fn layer_norm(x: Ptr<f32>, w: Ptr<f32>, out: Ptr<f32>, rows: i32, eps: f32) {
    let row = block_id(0);
    let cols = arange(0, 768);
    let v = load(x + row * 768 + cols);
    let mean = v.sum(0) / 768.0;
    let d = v - mean;
    let var = (d * d).sum(0) / 768.0;
    let y = d * (var + eps).rsqrt() * load(w + cols);
    store(out + row * 768 + cols, y);
}

fn main() {}
