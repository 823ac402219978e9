use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 64))]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let s = shared::<f32>([64, 64]);
    copy_async(x.tile([block_id(0) * 64, 0], [64, 64]), s);
    out.tile([block_id(0) * 64, 0], [64, 64]).store(s.load());
}

fn main() {}
