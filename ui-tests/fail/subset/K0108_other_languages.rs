use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let tile = x.tile([0], [64]).load();
    let a = tile.to(f16);
    let b = tile.clip(0.0, 5.0);
    let c = tile.cummax(0);
    let d = tile.relu() + tile.mean(0);
    let e = tile.shape;
    let f = load(x.data_ptr());
    y.tile([0], [64]).store(a + b + c + d + e + f);
}

fn main() {}
