// CUDA: GELU, one element a thread. There are no thread numbers: a block works on tiles.
// RIGHT: let at = [block_id(0) * 256]; // and x.tile(at, [256]).load()
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 8, grid = cdiv(n, 256))]
pub fn gelu(x: Ptr<f32>, y: Ptr<f32>, n: i32) {
    let i = block_id(0) * 256 + thread_id(0);
    if i < n {
        let v = load(x + i);
        let t = (0.797_884_6 * (v + 0.044_715 * v * v * v)).tanh();
        store(y + i, 0.5 * v * (1.0 + t));
    }
}

fn main() {}
