use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Tensor<f32, 2>) {
    let staged = shared::<f32>([256, 16]).with_layout(swizzle(64));
    let held = tmem::<f32>([256, 16]).with_layout(tmem_block([128, 1], 1));
    let done = barrier(1);
    staged.store(x.tile([0, 0], [256, 16]).load());
    tcgen05::copy(staged, held);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
