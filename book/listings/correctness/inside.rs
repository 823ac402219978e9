use kiln::prelude::*;

// ANCHOR: kernel
/// Divides each row by its sum.
#[kernel(target = sm_80, warps = 4, grid = x.dim(0), debug = always)]
pub fn normalize(x: TensorMut<f32, 2>) {
    let window = x.tile([block_id(0), 0], [1, 128]);
    let row = window.load();
    let sum = row.sum(1).item();
    println!("row {}: the sum is {sum:.1}", block_id(0));
    assert!(sum > 0.0, "row {} has no sum to divide by", block_id(0));
    window.store(row / sum);
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let host: Vec<f32> = (0..3 * 128).map(|i| if i < 256 { 0.5 } else { 0.0 }).collect();
    let mut x = stream.upload(&host, [3, 128])?;
    let launched = normalize(normalize::Args { x: &mut x }).launch(&stream);
    println!("{}", launched.expect_err("the last row is all zeros"));
    Ok(())
}
