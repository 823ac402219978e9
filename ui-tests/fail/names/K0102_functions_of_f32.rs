use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(0), 1024)])]
pub fn roots(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = block_id(0) * 1024;
    let v = x.tile([at], [1024]).load();
    let most = f32::max(v, 0.0);
    out.tile([at], [1024]).store(f32::sqrt(most));
}

fn main() {}
