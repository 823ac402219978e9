use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Tensor<f32, 2>) {
    let staged = shared::<f32>([128, 64]);
    let held = tmem::<f32>([128, 64]);
    let done = barrier(1);
    staged.store(x.tile([0, 0], [128, 64]).load());
    tcgen05::copy(staged, held).on(done);
    done.wait(0);
}

fn main() {}
