use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Tensor<ue8m0, 2>) {
    let (a, b) = (shared::<e4m3>([128, 1024]), shared::<e4m3>([64, 1024]));
    let (acc, done) = (tmem::<f32>([128, 64]), barrier(1));
    let (of_a, of_b) = (tmem::<ue8m0>([128, 32]), tmem::<ue8m0>([64, 32]));
    let staged = shared::<ue8m0>([128, 32]).with_layout(swizzle(32));
    staged.store(x.tile([0, 0], [128, 32]).load());
    of_b.store(full([64, 32], ue8m0::ONE));
    tcgen05::copy(staged, of_a);
    tcgen05::mma_scaled(a, b.t(), acc, of_a, of_b).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
