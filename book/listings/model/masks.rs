use kiln::prelude::*;

// ANCHOR: sum
/// The sum of each row, of any width. What a window reads past the end is 0, which a sum does not notice.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 4))]
pub fn sums(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let mut sum = zeros::<f32>([4]);
    for column in range(0, x.dim(1), 128) {
        sum += x.tile([block_id(0) * 4, column], [4, 128]).load().sum(1);
    }
    out.tile([block_id(0) * 4], [4]).store(sum);
}
// ANCHOR_END: sum

// ANCHOR: max
/// The greatest element of each row. Here 0 would be wrong, so positions past the end become the least number.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 4))]
pub fn maxima(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let mut most = full([4], f32::NEG_INFINITY);
    for column in range(0, x.dim(1), 128) {
        let tile = x.tile([block_id(0) * 4, column], [4, 128]).load();
        let inside = (column + arange(0, 128)).lt(x.dim(1)).expand(0);
        most = maximum(most, select(inside, tile, f32::NEG_INFINITY).max(1));
    }
    out.tile([block_id(0) * 4], [4]).store(most);
}
// ANCHOR_END: max

// ANCHOR: forgotten
/// The same without the mask: wrong for rows of negative numbers whose width is not a multiple of 128.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 4))]
pub fn maxima_or_zero(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let mut most = full([4], f32::NEG_INFINITY);
    for column in range(0, x.dim(1), 128) {
        most = maximum(most, x.tile([block_id(0) * 4, column], [4, 128]).load().max(1));
    }
    out.tile([block_id(0) * 4], [4]).store(most);
}
// ANCHOR_END: forgotten

// ANCHOR: causal
/// Keeps the lower triangle of a matrix, and writes -1 above it.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(1), 32), cdiv(x.dim(0), 32)])]
pub fn lower(x: TensorMut<f32, 2>) {
    let (row, column) = (block_id(1) * 32, block_id(0) * 32);
    let rows = (row + arange(0, 32)).expand(1);
    let columns = (column + arange(0, 32)).expand(0);
    let window = x.tile([row, column], [32, 32]);
    window.store(select(columns.le(rows), window.load(), -1.0));
}
// ANCHOR_END: causal

// ANCHOR: pointer
/// Doubles the first `n` elements at an address. Here nothing knows where the memory ends.
#[kernel(target = sm_80, warps = 4, grid = cdiv(n, 128))]
pub fn double(x: Ptr<f32>, n: i32) {
    let index = block_id(0) * 128 + arange(0, 128);
    let inside = index.lt(n);
    store_masked(x + index, inside, load_masked(x + index, inside, 0.0) * 2.0);
}
// ANCHOR_END: pointer

pub fn main() -> kiln::Result<()> {
    let stream = Device::best_for(sums::TARGETS)?.stream()?;
    // ANCHOR: main
    let x = stream.full([5, 300], -2.0f32)?;
    let mut out = stream.zeros([5])?;
    sums(sums::Args { x: &x, out: &mut out }).launch(&stream)?;
    println!("{:?}", out.to_vec(&stream)?);
    maxima(maxima::Args { x: &x, out: &mut out }).launch(&stream)?;
    println!("{:?}", out.to_vec(&stream)?);
    maxima_or_zero(maxima_or_zero::Args { x: &x, out: &mut out }).launch(&stream)?;
    println!("{:?}", out.to_vec(&stream)?);
    // ANCHOR_END: main

    let mut x = stream.full([40, 50], 3.0f32)?;
    lower(lower::Args { x: &mut x }).launch(&stream)?;
    let required: Vec<f32> =
        (0..40 * 50).map(|i| if i % 50 <= i / 50 { 3.0 } else { -1.0 }).collect();
    assert_eq!(x.to_vec(&stream)?, required);
    Ok(())
}
