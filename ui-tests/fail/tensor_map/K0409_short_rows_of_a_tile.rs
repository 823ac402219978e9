use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(x: Tensor<f16, 2>) {
    let tile = shared::<f16>([64, 4]);
    let full = barrier(1);
    full.expect(tile.bytes());
    copy_async(x.tile([0, 0], [64, 4]), tile).on(full);
    full.wait(0);
}

fn main() {}
