use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn stream(#[block(64, 64)] x: TensorMap<f32, 2>, out: TensorMut<f32, 2>) {
    let tile = shared::<f32>([64, 64]);
    let full = barrier(1);
    for k in range(0, 4, 1) {
        warp_specialize(
            || {
                full.wait(k % 2);
                out.tile([k * 64, 0], [64, 64]).store(tile.load());
            },
            [partition(1).run(|| {
                full.expect(x.block_bytes());
                tma::load(x, [k * 64, 0], full, tile);
            })],
        );
    }
}

fn main() {}
