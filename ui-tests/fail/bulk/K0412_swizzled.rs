use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(x: Ptr<f32>) {
    let tile = shared::<f32>([64, 32]).with_layout(swizzle(128));
    let full = barrier(1);
    full.expect(tile.bytes());
    bulk::load(x, full, tile);
    full.wait(0);
}

fn main() {}
