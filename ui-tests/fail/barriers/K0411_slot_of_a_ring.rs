use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(#[block(64, 64)] x: TensorMap<f16, 2>, turns: i32) {
    let ring = shared::<f16>([2, 64, 64]);
    let full = barriers(2, 1);
    for k in 0..turns {
        let slot = k % 2;
        full[slot].expect(ring.bytes());
        tma::load(x, [k * 64, 0], full[slot], ring[slot]);
        full[slot].wait(k / 2 % 2);
    }
}

fn main() {}
