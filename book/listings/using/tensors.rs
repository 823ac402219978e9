use kiln::prelude::*;

// ANCHOR: kernel
/// out = x · factor, over rows of up to `N` columns.
#[kernel(target = sm_80, warps = 4, grid = out.dim(0), instances(N = [256]))]
pub fn scale<const N: i32>(x: Tensor<f32, 2>, factor: f32, out: TensorMut<f32, 2>) {
    let at = [block_id(0), 0];
    out.tile(at, [1, N]).store(x.tile(at, [1, N]).load() * factor);
}
// ANCHOR_END: kernel

// ANCHOR: main
pub fn main() -> kiln::Result<()> {
    let device = Device::best_for(scale::TARGETS)?;
    let stream = device.stream()?;

    // Four rows of six columns, in the device's memory.
    let numbers: Vec<f32> = (0u8..24).map(f32::from).collect();
    let x = stream.upload(&numbers, [4, 6])?;

    // Views of the same memory: two rows, and columns as rows.
    let middle = x.slice(0, 1..3)?;
    let columns = x.transpose();

    let mut out = stream.zeros([2, 6])?;
    scale::<256>(scale::Args { x: &middle, factor: 10.0, out: &mut out }).launch(&stream)?;
    println!("{:?}", out.to_vec(&stream)?);

    let mut turned = stream.empty([6, 4])?;
    scale::<256>(scale::Args { x: &columns, factor: 1.0, out: &mut turned }).launch(&stream)?;
    println!("{:?}", &turned.to_vec(&stream)?[..8]);

    // A kernel writes into a part of a tensor.
    let mut all = stream.zeros([4, 6])?;
    let mut part = all.slice_mut(1, 4..6)?;
    let ones = stream.full([4, 2], 1.0f32)?;
    scale::<256>(scale::Args { x: &ones, factor: 7.0, out: &mut part }).launch(&stream)?;
    println!("{:?}", &all.to_vec(&stream)?[..6]);
    Ok(())
}
// ANCHOR_END: main
