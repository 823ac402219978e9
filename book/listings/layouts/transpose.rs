use kiln::prelude::*;

// ANCHOR: kernel
/// out = xᵀ, a tile of 64 × 64 to a block.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(0), 64), cdiv(x.dim(1), 64)])]
pub fn transpose(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let (row, column) = (block_id(0) * 64, block_id(1) * 64);
    let tile = x.tile([row, column], [64, 64]).load();
    out.tile([column, row], [64, 64]).store(tile.t());
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let host: Vec<f32> = (0..77 * 131u16).map(f32::from).collect();
    let x = stream.upload(&host, [77, 131])?;
    let mut out = stream.zeros([131, 77])?;
    transpose(transpose::Args { x: &x, out: &mut out }).launch(&stream)?;
    let required: Vec<f32> = (0..77 * 131).map(|at| host[at % 77 * 131 + at / 77]).collect();
    assert_eq!(out.to_vec(&stream)?, required);
    println!("77 rows of 131 became 131 rows of 77");
    Ok(())
}
