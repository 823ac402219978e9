use kiln::prelude::*;

#[device]
pub mod types {
    use kiln::prelude::*;

    pub struct Layer {
        pub weight: Tensor<f32, 1>,
    }
}

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn forward(layer: types::Layer, x: TensorMut<f32, 1>) {
    x.tile([0], [128]).store(layer.weight.tile([0], [128]).load());
}

fn main() {}
