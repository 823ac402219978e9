use kiln::prelude::*;

#[kernel(target = sm_120a, warps = 4, grid = 1)]
fn moved(#[block(128, 8)] x: TensorMap<e2m3x16, 2>, y: TensorMut<f32, 2>) {
    let (staged, filled) = (shared::<e2m3x16>([128, 8]), barrier(1));
    filled.expect(staged.bytes());
    tma::load(x, [0, 0], filled, staged);
    filled.wait(0);
    let tile = staged.load();
    y.tile([0, 0], [128, 128]).store(dot(tile, tile.t(), zeros([128, 128])));
}

fn main() {}
