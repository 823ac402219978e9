use kiln::prelude::*;

// ANCHOR: kernel
/// out = the rows of `x` that `rows` lists, in that order.
#[kernel(target = sm_100f, warps = 4, grid = cdiv(rows.dim(0), 64))]
pub fn pick(
    #[block(1, 64)] x: TensorMap<i32, 2>,
    rows: Tensor<i32, 1>,
    out: TensorMut<i32, 2>,
) {
    let four_to_a_thread = slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0]));
    let at = block_id(0) * 64;
    let rows = rows.tile([at], [64]).load().to_layout(four_to_a_thread);
    let tile = shared::<i32>([64, 64]);
    let arrived = barrier(1);
    arrived.expect(64 * x.block_bytes());
    tma::gather(x, rows, 0, arrived, tile);
    arrived.wait(0);
    out.tile([at, 0], [64, 64]).store(tile.load());
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm100f)?.stream()?;
    let x: Vec<i32> = (0..100 * 64).collect();
    let rows: Vec<i32> = (0..70).map(|i| i * 37 % 100).collect();
    let (x, rows) = (stream.upload(&x, [100, 64])?, stream.upload(&rows, [70])?);
    let mut out = stream.zeros([70, 64])?;
    pick(pick::Args { x: &x, rows: &rows, out: &mut out }).launch(&stream)?;
    let out = out.to_vec(&stream)?;
    let required: Vec<i32> = (0..70 * 64).map(|at| at / 64 * 37 % 100 * 64 + at % 64).collect();
    assert_eq!(out, required);
    println!("rows 0, 37, 74 begin with {}, {}, {}", out[0], out[64], out[128]);
    Ok(())
}
