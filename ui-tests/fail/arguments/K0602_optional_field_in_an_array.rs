use kiln::prelude::*;

#[kernel]
mod layers {
    use kiln::prelude::*;

    pub struct Layer {
        weight: Tensor<f32, 1>,
        bias: Option<Tensor<f32, 1>>,
    }

    #[kernel(target = sm_80, warps = 4, grid = 1)]
    pub fn forward(layers: [Layer; 2], x: TensorMut<f32, 1>) {
        x.tile([0], [128]).store(layers[0].weight.tile([0], [128]).load());
    }
}

fn main() {}
