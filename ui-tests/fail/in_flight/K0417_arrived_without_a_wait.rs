use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn through_shared(#[block(64, 64)] x: TensorMap<f16, 2>, y: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 64]);
    let (full, ready) = (barrier(1), barrier(1));
    full.expect(s.bytes());
    tma::load(x, [0, 0], full, s);
    warp_specialize(
        || {
            ready.wait(0);
            y.tile([0, 0], [64, 64]).store(s.load());
        },
        [partition(1).run(|| ready.arrive())],
    );
}

fn main() {}
