use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn rows(#[block(16, 64)] x: TensorMap<f16, 2>, y: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 64]);
    copy_async(x.at([0, 0]), s.tile([16, 0], [16, 64]));
    copy_async_wait_all();
    sync();
    y.tile([0, 0], [16, 64]).store(s.tile([16, 0], [16, 64]).load());
}

fn main() {}
