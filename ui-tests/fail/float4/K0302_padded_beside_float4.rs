use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let a = shared::<e2m1x2>([128, 64]).with_layout(swizzle(128).fp4_padded());
    let b = shared::<e2m1x2>([64, 64]);
    let (acc, done) = (tmem::<f32>([128, 64]), barrier(1));
    let (of_a, of_b) = (tmem::<ue8m0>([128, 4]), tmem::<ue8m0>([64, 4]));
    tcgen05::mma_scaled(a, b.t(), acc, of_a, of_b).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
