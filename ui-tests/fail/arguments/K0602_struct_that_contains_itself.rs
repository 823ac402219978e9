#[kiln::kernel]
mod layers {
    use kiln::prelude::*;

    pub struct Layer {
        weight: Tensor<f32, 1>,
        next: Option<Layer>,
    }

    #[kernel(target = sm_80, warps = 4, grid = 1)]
    pub fn forward(layer: Layer, x: TensorMut<f32, 1>) {
        let mut y = layer.weight.tile([0], [128]).load();
        if let Some(next) = layer.next {
            y *= next.weight.tile([0], [128]).load();
        }
        x.tile([0], [128]).store(y);
    }
}

fn main() {}
