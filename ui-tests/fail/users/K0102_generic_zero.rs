use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 128), instances(T = [f32, f16]))]
pub fn clear<T: Float>(out: TensorMut<T, 1>) {
    let zero = T::default();
    out.tile([block_id(0) * 128], [128]).store(full([128], zero));
}

fn main() {}
