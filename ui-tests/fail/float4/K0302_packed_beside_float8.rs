use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let a = shared::<e2m1x2>([128, 64]).with_layout(swizzle(64));
    let b = shared::<e4m3>([64, 128]);
    let (acc, done) = (tmem::<f32>([128, 64]), barrier(1));
    tcgen05::mma(a, b.t(), acc).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
