use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(x: Tensor<f16, 2>) {
    let tile = x.tile([0, 0], [64, 64]).load();
    let full = barrier(1);
    full.expect(8192);
    copy_async(tile, tile).on(full);
    full.wait(0);
}

fn main() {}
