use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Tensor<f32, 2>) {
    let staged = shared::<f32>([4, 4]);
    let held = tmem::<f32>([4, 4]).with_layout(layout!(S[(4, 4) : (32 @ TLane, 1 @ TCol)]));
    let done = barrier(1);
    staged.store(x.tile([0, 0], [4, 4]).load());
    tcgen05::copy(staged, held);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
