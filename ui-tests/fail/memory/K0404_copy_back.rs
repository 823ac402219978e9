use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn write_back(c: TensorMut<f32, 2>) {
    let tile = shared::<f32>([64, 64]);
    tile.store(zeros([64, 64]));
    sync();
    copy_async(tile, c.tile([0, 0], [64, 64]));
}

fn main() {}
