use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn scores(q: Tensor<f16, 2>, k: Tensor<f16, 2>, out: TensorMut<f32, 2>) {
    let qv = q.tile([0, 0], [64, 64]).load();
    let kv = k.tile([0, 0], [64, 64]).load();
    let s = dot(qv, kv.trans(), zeros::<f32>([64, 64]));
    out.tile([0, 0], [64, 64]).store(s);
}

fn main() {}
