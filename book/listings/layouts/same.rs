use kiln::prelude::*;

// ANCHOR: kernel
/// Three spellings of one layout. An assertion never moves an element: a wrong one is a compile error.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn three_spellings(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let tile = x.tile([0, 0], [8, 16]).load().to_layout(blocked([1, 2], [4, 8], [1, 1], [1, 0]));
    let tile = tile.assert_layout(linear(
        [[0, 1], [4, 0]],
        [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]],
        [],
        [8, 16],
    ));
    let tile = tile.assert_layout(layout!(
        S[(2, 4, 8, 2) : (2, 8 @ laneid, 1 @ laneid, 1)]
    ));
    out.tile([0, 0], [8, 16]).store(tile);
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let host: Vec<f32> = (0..128u8).map(f32::from).collect();
    let x = stream.upload(&host, [8, 16])?;
    let mut out = stream.zeros([8, 16])?;
    three_spellings(three_spellings::Args { x: &x, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, host);
    println!("the same layout, and the same numbers");
    Ok(())
}
