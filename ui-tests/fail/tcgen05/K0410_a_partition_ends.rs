use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let (a, b) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let (acc, full) = (tmem::<f32>([128, 64]), barrier(1));
    warp_specialize(
        || full.wait(0),
        [partition(1).run(|| {
            tcgen05::mma(a, b, acc).accumulate(false);
            full.arrive();
        })],
    );
}

fn main() {}
