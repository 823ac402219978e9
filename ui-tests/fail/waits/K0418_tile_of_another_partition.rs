use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn copy(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let tile = shared::<f32>([64, 64]);
    warp_specialize(
        || {
            y.tile([0, 0], [64, 64]).store(tile.load());
        },
        [partition(4).run(|| {
            tile.store(x.tile([0, 0], [64, 64]).load());
        })],
    );
}

fn main() {}
