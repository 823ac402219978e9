use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let tile = shared::<e2m1x2>([128, 64]).with_layout(swizzle(128).fp4_padded());
    let (held, done) = (tmem::<e2m1x2>([128, 64]), barrier(1));
    tcgen05::copy(tile, held);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
