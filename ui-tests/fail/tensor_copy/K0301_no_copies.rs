use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Tensor<u8, 2>) {
    let staged = shared::<u8>([32, 16]);
    let held = tmem::<u8>([32, 16]).with_layout(layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)]));
    let done = barrier(1);
    staged.store(x.tile([0, 0], [32, 16]).load());
    tcgen05::copy(staged, held);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
