use kiln::prelude::*;

// ANCHOR: kernel
/// Divides each row of 64 elements by its largest magnitude; a block has 16 rows.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 16))]
pub fn scale_rows(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let at = [block_id(0) * 16, 0];
    let rows = x.tile(at, [16, 64]).load(); // a tile of shape [16, 64]
    let most = rows.abs().max(1); // shape [16]
    out.tile(at, [16, 64]).store(rows / most.expand(1)); // [16, 64] by [16, 1]
}
// ANCHOR_END: kernel

// ANCHOR: main
pub fn main() -> kiln::Result<()> {
    let stream = Device::best_for(scale_rows::TARGETS)?.stream()?;
    // 40 rows: row 0 is 0, 1, .., 63, and row i is that times 2 to the power of i % 8.
    let host: Vec<f32> = (0..40 * 64).map(|i| ((i % 64) << (i / 64 % 8)) as f32).collect();
    let x = stream.upload(&host, [40, 64])?;
    let mut out = stream.zeros([40, 64])?;
    scale_rows(scale_rows::Args { x: &x, out: &mut out }).launch(&stream)?;
    let out = out.to_vec(&stream)?;
    let required: Vec<f32> = (0..40 * 64).map(|i| (i % 64) as f32 / 63.0).collect();
    assert_eq!(out, required);
    println!("{} elements, the last of each row is {}", out.len(), out[63]);
    Ok(())
}
// ANCHOR_END: main

// ANCHOR: shapes
/// Every number of a multiplication table of 8 by 16, and what its parts have in common.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn table(out: TensorMut<i32, 2>, sums: TensorMut<i32, 1>) {
    let rows = arange(1, 9).expand(1); // shape [8, 1]
    let columns = arange(1, 17).expand(0); // shape [1, 16]
    let all = rows * columns; // shape [8, 16]
    out.tile([0, 0], [8, 16]).store(all);
    let halves = all.slice((.., 0..8)).concat(all.slice((.., 8..16)), 0); // [16, 8]
    let flat = halves.reshape([128]); // row by row
    let transposed = all.t(); // shape [16, 8]
    let (even, odd) = all.reshape([8, 8, 2]).split(); // two of [8, 8]
    let total = flat.sum(0); // rank 0: one value
    let pairs = join(transposed.sum([0, 1]), (even + odd).sum([0, 1])); // shape [2]
    sums.tile([0], [2]).store(pairs);
    sums.tile([2], [1]).store(total.expand(0));
}
// ANCHOR_END: shapes

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_sum_the_table_gives_the_same() -> kiln::Result<()> {
        let stream = Device::emulator(Target::Sm80)?.stream()?;
        let (mut out, mut sums) = (stream.zeros([8, 16])?, stream.zeros([3])?);
        table(table::Args { out: &mut out, sums: &mut sums }).launch(&stream)?;
        let required: Vec<i32> = (0..128).map(|i| (i / 16 + 1) * (i % 16 + 1)).collect();
        assert_eq!(out.to_vec(&stream)?, required);
        assert_eq!(sums.to_vec(&stream)?, [36 * 136; 3]);
        Ok(())
    }
}
