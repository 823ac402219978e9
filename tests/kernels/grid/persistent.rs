//! As many blocks as fit walk over all tiles.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[2000] uniform(-1, 1)
//@ arg out: f32[2000] poison
//@ expect out: x(i) * 0.5
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = persistent(cdiv(x.dim(0), 128)))]
pub fn persistent_blocks(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    for tile in range(block_id(0), cdiv(x.dim(0), 128), grid_dim(0)) {
        let at = [tile * 128];
        out.tile(at, [128]).store(x.tile(at, [128]).load() * 0.5);
    }
}
