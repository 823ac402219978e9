use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 2, cluster = 2)]
pub fn wrong(#[block(64, 64)] a: TensorMap<f16, 2>, out: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 64]);
    let bar = barrier(1);
    bar.expect(s.bytes());
    tma::load_multicast(a, [0, 0], bar, s, 3);
    bar.wait(0);
    out.tile([0, 0], [64, 64]).store(s.load());
}

fn main() {}
