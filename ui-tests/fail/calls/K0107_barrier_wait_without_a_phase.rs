use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(#[block(32, 64)] a: TensorMap<f16, 2>, out: TensorMut<f16, 2>) {
    let buffer = shared::<f16>([32, 64]);
    let ready = barrier(1);
    ready.expect(a.block_bytes());
    tma::load(a, [0, 0], ready, buffer);
    ready.wait();
    out.tile([0, 0], [32, 64]).store(buffer.load());
}

fn main() {}
