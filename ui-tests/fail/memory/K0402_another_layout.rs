use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn twice(x: TensorMut<f32, 2>) {
    let tile = x.tile([0, 0], [32, 32]);
    let s = shared::<f32>([32, 32]).with_layout(swizzle(128));
    s.store(tile.load());
    tile.store(s.with_layout(layout!(S[32, 32])).load());
}

fn main() {}
