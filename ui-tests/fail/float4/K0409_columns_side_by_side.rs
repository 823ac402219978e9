use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(#[stride(1, _)] x: Tensor<e2m1x2, 2>) {
    let tile = shared::<e2m1x2>([64, 64]).with_layout(swizzle(128).fp4_padded());
    let bar = barrier(1);
    bar.expect(tile.bytes());
    copy_async(x.tile([0, 0], [64, 64]), tile).on(bar);
    bar.wait(0);
}

fn main() {}
