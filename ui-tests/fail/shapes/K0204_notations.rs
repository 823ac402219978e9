use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn show(p: Ptr<f32>, flag: bool, scales: Tensor<ue8m0, 1>) {
    let tile = load(p + arange(0, 64));
    println!("{:x}", tile);
    println!("{:e}", flag);
    println!("{p}");
    println!("{tile:p}");
    println!("{:?}", scales.tile([0], [64]).load());
    assert!(tile.sum(0).item(), "{p}");
}

fn main() {}
