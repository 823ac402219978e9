use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(#[stride(_, 1)] x: Tensor<f16, 2>) {
    let tile = shared::<f16>([64, 64]).with_layout(swizzled(1, 1, 1, [0, 1]));
    let full = barrier(1);
    full.expect(tile.bytes());
    copy_async(x.tile([0, 0], [64, 64]), tile).on(full);
    full.wait(0);
}

fn main() {}
