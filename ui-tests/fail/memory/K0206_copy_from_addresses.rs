use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
fn k(p: Ptr<f32>, n: i32, y: TensorMut<f32, 1>) {
    let (held, wide, full) = (shared::<f32>([128]), shared::<f32>([256]), barrier(1));
    let at = arange(0, 128);
    copy_async_masked(p + at, at.lt(n), at.cast::<f32>(), held);
    copy_async_masked(p + at, at, 0.0, held);
    copy_async(p + at, wide);
    copy_async(p + at, held).on(full);
    copy_async_wait_all();
    sync();
    y.tile([0], [128]).store(held.load());
}

fn main() {}
