use kiln::prelude::*;

// ANCHOR: kernel
/// Each of two blocks has the sum of half of a row; both write the sum of the whole one.
#[kernel(target = sm_90a, warps = 4, grid = [2, x.dim(0)], cluster = [2, 1])]
pub fn row_sums(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let (rank, row) = (cluster::rank(), block_id(1));
    let part = shared::<f32>([1]);
    part.store(x.tile([row, rank * 512], [1, 512]).load().sum(1));
    cluster::sync();
    let whole = part.load() + part.of_block(1 - rank).load();
    out.tile([row, rank], [1, 1]).store(whole.expand(1));
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm90a)?.stream()?;
    let x = stream.full([3, 1024], 0.25f32)?;
    let mut out = stream.zeros([3, 2])?;
    row_sums(row_sums::Args { x: &x, out: &mut out }).launch(&stream)?;
    println!("{:?}", out.to_vec(&stream)?);
    Ok(())
}
