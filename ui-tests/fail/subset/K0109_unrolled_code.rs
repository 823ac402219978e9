use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let mut tile = x.tile([0], [32768]).load();
    for _ in unroll(0..512) {
        tile = tile * 0.5 + 1.0;
    }
    y.tile([0], [32768]).store(tile);
}

fn main() {}
