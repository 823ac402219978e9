//! Sums and maxima of the columns of a matrix, combined in a tensor by TMA reductions: each block adds its part to the tensor.
//!
//! `cargo run --release --example tma_reduce [-- ROWS COLUMNS]`

#![expect(
    clippy::print_stdout,
    reason = "an example prints, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

/// sums += the rows of a, 64 of them a block.
#[kernel(target = [sm_90a, sm_100f], warps = 4, grid = [cdiv(a.dim(0), 64), cdiv(a.dim(1), 128)])]
pub fn tma_sums(#[block(64, 128)] a: TensorMap<f32, 2>, #[block(128)] sums: TensorMapMut<f32, 1>) {
    let (row, column) = (block_id(0) * 64, block_id(1) * 128);
    let staged = shared::<f32>([64, 128]);
    let part = shared::<f32>([128]);
    let arrived = barrier(1);
    arrived.expect(a.block_bytes());
    tma::load(a, [row, column], arrived, staged);
    arrived.wait(0);
    part.store(staged.load().sum(0));
    tma::reduce_add(sums, [column], part);
    tma::store_wait_written(0);
}

/// largest = max(largest, the rows of a), 64 of them a block. Rows below the last are zeros in shared memory, which count as `least`.
#[kernel(target = [sm_90a, sm_100f], warps = 4, grid = [cdiv(a.dim(0), 64), cdiv(a.dim(1), 128)])]
pub fn tma_maxima(
    #[block(64, 128)] a: TensorMap<i32, 2>,
    #[block(128)] largest: TensorMapMut<i32, 1>,
    least: i32,
) {
    let (row, column) = (block_id(0) * 64, block_id(1) * 128);
    let staged = shared::<i32>([64, 128]);
    let part = shared::<i32>([128]);
    let arrived = barrier(1);
    arrived.expect(a.block_bytes());
    tma::load(a, [row, column], arrived, staged);
    arrived.wait(0);
    let inside = (row + arange(0, 64)).expand(1).lt(a.dim(0));
    part.store(select(inside, staged.load(), least).max(0));
    tma::reduce_max(largest, [column], part);
    tma::store_wait_written(0);
}

fn main() -> Result<()> {
    let device = Device::best_for(tma_sums::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let &[rows, columns] = given.first_chunk().unwrap_or(&[203, 1000]);

    let host: Vec<i32> = (0..17).cycle().take(rows * columns).map(|i| i - 20).collect();
    let floats: Vec<f32> =
        (0u8..17).cycle().take(rows * columns).map(|i| f32::from(i) - 20.0).collect();
    let a = stream.upload(&floats, [rows, columns])?;
    let mut sums = stream.zeros::<f32, 1>([columns])?;
    tma_sums(tma_sums::Args { a: &a, sums: &mut sums }).launch(&stream)?;
    let required: Vec<f32> = (0..columns)
        .map(|column| (0..rows).map(|row| floats[row * columns + column]).sum())
        .collect();
    // Whole numbers: the order of the blocks does not matter.
    assert!(sums.to_vec(&stream)? == required, "the sums are wrong");
    println!("the sums of {columns} columns of {rows} rows");

    let a = stream.upload(&host, [rows, columns])?;
    let mut largest = stream.full([columns], i32::MIN)?;
    tma_maxima(tma_maxima::Args { a: &a, largest: &mut largest, least: i32::MIN })
        .launch(&stream)?;
    let required: Vec<i32> = (0..columns)
        .map(|column| (0..rows).map(|row| host[row * columns + column]).max().unwrap_or(i32::MIN))
        .collect();
    assert!(largest.to_vec(&stream)? == required, "the maxima are wrong");
    println!("the maxima of {columns} columns of {rows} rows");
    Ok(())
}
