use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn halves(x: Tensor<i64, 1>, y: TensorMut<i32, 1>) {
    let x = x.tile([0], [32]).load();
    let (low, _) = ptx!("mov.b64 {out0, out1}, {x};", x = x => (i32, i32));
    y.tile([0], [32]).store(low);
}

fn main() {}
