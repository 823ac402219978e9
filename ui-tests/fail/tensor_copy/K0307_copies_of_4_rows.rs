use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Tensor<f32, 2>) {
    let staged = shared::<f32>([4, 16]);
    let held = tmem::<f32>([4, 16]).with_layout(layout!(S[(4, 16) : (32 @ TLane, 1 @ TCol)] + R[32 : 1 @ TLane]));
    let done = barrier(1);
    staged.store(x.tile([0, 0], [4, 16]).load());
    tcgen05::copy(staged, held);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
