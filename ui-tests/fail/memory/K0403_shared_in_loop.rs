use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn copy(n: i32, x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    for i in range(0, n, 64) {
        let tile = shared::<f32>([64, 64]);
        tile.store(x.tile([i, 0], [64, 64]).load());
        sync();
        y.tile([i, 0], [64, 64]).store(tile.load());
    }
}

fn main() {}
