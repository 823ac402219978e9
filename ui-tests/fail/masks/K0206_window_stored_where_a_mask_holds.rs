use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn thresh(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 128];
    let v = x.tile(at, [128]).load();
    if v.gt(0.5) {
        out.tile(at, [128]).store(v);
    }
}

fn main() {}
