use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn show(x: Tensor<f32, 2>) {
    let tile = x.tile([0, 0], [8, 64]).load();
    println!("{tile} of {}", tile.sum(1));
}

fn main() {}
