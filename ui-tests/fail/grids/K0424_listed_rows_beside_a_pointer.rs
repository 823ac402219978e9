use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn gathered(w: Ptr<f32>, x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let of_w = load(w + arange(0, 64));
    let rows = x.tile_rows(arange(0, 4), [0, 0], [4, 64]).load();
    grid_dependency_wait();
    y.tile([0, 0], [4, 64]).store(rows * of_w.expand(0));
}

fn main() {}
