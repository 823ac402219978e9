use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn look(x: TensorMut<f32, 1>) {
    let w = x.tile([block_id(0) * 128], [128]);
    let sum = w.load().sum(0).item();
    println!("bits of the sum: {sum:#010x}");
    w.store(w.load() / sum);
}

fn main() {}
