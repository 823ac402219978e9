use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Tensor<u8, 2>) {
    let staged = shared::<u8>([128, 128]).with_layout(swizzle(128));
    let held = tmem::<u8>([128, 128]).with_layout(tmem_block([128, 128], 1));
    let done = barrier(1);
    staged.store(x.tile([0, 0], [128, 128]).load());
    tcgen05::copy(staged, held);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
