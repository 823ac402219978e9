//! A tensor map that may be absent: without it there is no copy, no barrier and no map.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f16[16, 64] iota(-512, 1)
//@ arg out: f16[16, 64] poison
//@ case: there
//@ expect out: x(i, j) + x(i, j)
//@ case: absent
//@ arg x: none
//@ expect out: 7
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 4, grid = 2)]
pub fn tensor_map(#[block(8, 64)] x: Option<TensorMap<f16, 2>>, out: TensorMut<f16, 2>) {
    let row = block_id(0) * 8;
    let v = if let Some(x) = x {
        let staged = shared::<f16>([8, 64]);
        let arrived = barrier(1);
        arrived.expect(x.block_bytes());
        tma::load(x, [row, 0], arrived, staged);
        arrived.wait(0);
        staged.load() + staged.load()
    } else {
        full([8, 64], f16::of(7.0))
    };
    out.tile([row, 0], [8, 64]).store(v);
}
