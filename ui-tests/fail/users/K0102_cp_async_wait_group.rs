use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 64]);
    copy_async(x.tile([0, 0], [64, 64]), s);
    cp_async_commit_group();
    cp_async_wait_group(0);
    sync();
    out.tile([0, 0], [64, 64]).store(s.load());
}

fn main() {}
