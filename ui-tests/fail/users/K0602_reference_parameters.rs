use kiln::prelude::*;

// Wrong: the tensors are taken by reference, as a Rust function would; right is `x: Tensor<f32, 2>` and `out: TensorMut<f32, 2>` by value: they are handles, and `Args` has the references.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 8))]
pub fn wrong(x: &Tensor<f32, 2>, out: &mut TensorMut<f32, 2>) {
    let at = [block_id(0) * 8, 0];
    let rows = x.tile(at, [8, 512]).load();
    let norms = (rows * rows).sum(-1).sqrt();
    let safe = maximum(norms, 1e-12);
    out.tile(at, [8, 512]).store(rows / safe.expand(-1));
}

fn main() {}
