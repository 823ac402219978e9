// ANCHOR: kernel
use kiln::prelude::*;

/// out = the sum of each row of `x`, 128 columns at a time. Wrong: it leaves out the columns after
/// the last whole tile.
#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn row_sums(x: Tensor<i32, 2>, out: TensorMut<i32, 1>) {
    let row = block_id(0);
    let mut sum = zeros::<i32>([1, 128]);
    for tile in 0..x.dim(1) / 128 {
        sum += x.tile([row, tile * 128], [1, 128]).load();
    }
    out.tile([row], [1]).store(sum.sum(1));
}
// ANCHOR_END: kernel

// ANCHOR: main
pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    for columns in [0, 1, 127, 128, 129, 256, 300] {
        let numbers = (0..).map(|i| i * 37 % 101 - 50);
        let host: Vec<i32> = numbers.take(3 * columns).collect();
        let x = stream.upload(&host, [3, columns])?;
        let mut out = stream.full([3], i32::MIN)?;
        row_sums(row_sums::Args { x: &x, out: &mut out }).launch(&stream)?;
        let required: Vec<i32> =
            (0..3).map(|row| host[row * columns..][..columns].iter().sum()).collect();
        let verdict = if out.to_vec(&stream)? == required { "right" } else { "wrong" };
        println!("{columns} columns: {verdict}");
    }
    Ok(())
}
// ANCHOR_END: main
