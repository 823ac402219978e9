use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(0), 1024)])]
pub fn wider(x: Tensor<bf16, 1>, out: TensorMut<f32, 1>) {
    let at = block_id(0) * 1024;
    let v = x.tile([at], [1024]).load();
    out.tile([at], [1024]).store(v.to_f32());
}

fn main() {}
