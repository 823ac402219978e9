use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn carve(x: TensorMut<f32, 1>, y: TensorMut<f16, 1>) {
    let smem = shared::<u8>([1024]);
    let a = smem.tile([0], [512]).view::<f32>();
    let b = smem.tile([512], [256]).view::<f16>();
    a.store(x.tile([0], [128]).load());
    b.store(y.tile([0], [256]).load());
    sync();
    x.tile([0], [128]).store(a.load().flip(0));
    y.tile([0], [256]).store(b.load().flip(0));
}

fn main() {}
