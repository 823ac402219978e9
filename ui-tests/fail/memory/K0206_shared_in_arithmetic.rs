use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn twice(x: TensorMut<f32, 1>) {
    let tile = shared::<f32>([128]);
    tile.store(x.tile([0], [128]).load());
    sync();
    x.tile([0], [128]).store(tile * 2.0);
}

fn main() {}
