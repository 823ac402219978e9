use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(a: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    let buffer = shared::<f16>([128, 32]);
    let ready = barrier(1);
    ready.expect(buffer.bytes());
    tma::load(a, [0, 0], ready, buffer);
    ready.wait(0);
    out.tile([0, 0], [128, 32]).store(buffer.load());
}

fn main() {}
