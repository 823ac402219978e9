//! Tensor maps of an array: each has a map of its own, of its own shape, and what is stated holds for each.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg xs[0]: f16[16, 64] iota(-512, 1)
//@ arg xs[1]: f16[11, 72] iota(100, 0.5)
//@ arg outs[0]: f16[16, 64] poison
//@ arg outs[1]: f16[16, 64] poison
//@ expect outs[0]: xs[0](i, j)
//@ expect outs[1]: if i < 11 { xs[1](i, j) } else { 0.0 }
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 4, grid = cdiv(outs[0].dim(0), 8))]
pub fn array_of_maps(
    #[block(8, 64)] xs: [TensorMap<f16, 2>; 2],
    #[stride(_, 1)] outs: [TensorMut<f16, 2>; 2],
) {
    let row = block_id(0) * 8;
    let staged = shared::<f16>([2, 8, 64]);
    let arrived = barrier(1);
    arrived.expect(xs[0].block_bytes() + xs[1].block_bytes());
    for i in unroll(0..2) {
        tma::load(xs[i as usize], [row, 0], arrived, staged[i]);
    }
    arrived.wait(0);
    for i in unroll(0..2) {
        outs[i as usize].tile([row, 0], [8, 64]).store(staged[i].load());
    }
}
