//! A window that is read and written.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[700] list(1, 2, 3, 5, 8)
//@ expect x: x(i) * 2.0 + 1.0
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256))]
pub fn in_place(x: TensorMut<f32, 1>) {
    let window = x.tile([block_id(0) * 256], [256]);
    window.store(window.load() * 2.0);
    window.store(window.load() + 1.0);
}
