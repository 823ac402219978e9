// Rust: Adam without bias correction. The second moment is a `Tensor`, which is only read, and the kernel stores to it.
// RIGHT: v: TensorMut<f32, 1>,
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(p.dim(0), 1024))]
pub fn adam(
    p: TensorMut<f32, 1>,
    g: Tensor<f32, 1>,
    m: TensorMut<f32, 1>,
    v: Tensor<f32, 1>,
    lr: f32,
) {
    let at = [block_id(0) * 1024];
    let (param, moment) = (p.tile(at, [1024]), m.tile(at, [1024]));
    let grad = g.tile(at, [1024]).load();
    let first = 0.9 * moment.load() + 0.1 * grad;
    let second = 0.999 * v.tile(at, [1024]).load() + 0.001 * grad * grad;
    moment.store(first);
    v.tile(at, [1024]).store(second);
    param.store(param.load() - lr * first / (second.sqrt() + 1e-8));
}

fn main() {}
