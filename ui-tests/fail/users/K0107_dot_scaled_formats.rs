use kiln::prelude::*;

#[kernel(target = sm_100f, warps = 4, grid = 1)]
pub fn mx(a: Tensor<e4m3, 2>, sa: Tensor<ue8m0, 2>, b: Tensor<e4m3, 2>, sb: Tensor<ue8m0, 2>, c: TensorMut<f32, 2>) {
    let av = a.tile([0, 0], [64, 128]).load();
    let bv = b.tile([0, 0], [128, 64]).load();
    let (sas, sbs) = (sa.tile([0, 0], [64, 4]).load(), sb.tile([0, 0], [64, 4]).load());
    let acc = dot_scaled(av, sas, "e4m3", bv, sbs, "e4m3", zeros::<f32>([64, 64]));
    c.tile([0, 0], [64, 64]).store(acc);
}

fn main() {}
