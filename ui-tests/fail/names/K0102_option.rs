use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn copy(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let tile: Option<Tile<f32>> = Some(x.tile([0], [128]).load());
    let other = None;
    y.tile([0], [128]).store(Ok(tile));
}

fn main() {}
