use kiln::prelude::*;

#[device]
fn relu<T>(x: Tile<T>) -> Tile<T> {
    maximum(x, zeros::<T>([128]))
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn apply(x: TensorMut<f32, 1>) {
    let w = x.tile([block_id(0) * 128], [128]);
    w.store(relu(w.load()));
}

fn main() {}
