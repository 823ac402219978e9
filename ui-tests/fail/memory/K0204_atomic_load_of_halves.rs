// Halves have no atomic loads and stores.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 8)]
pub fn atomic_load_of_halves(x: TensorMut<f16, 1>) {
    let window = x.tile([0], [128]);
    window.atomic_store(window.atomic_load() + 1.0);
}

fn main() {}
