use kiln::prelude::*;

// ANCHOR: edges
/// Copies a window that begins two rows above and one column left of the tensor.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn corner(x: Tensor<i32, 2>, out: TensorMut<i32, 2>) {
    out.tile([0, 0], [4, 4]).store(x.tile([-2, -1], [4, 4]).load());
}
// ANCHOR_END: edges

// ANCHOR: axes
/// Sums over the channels of images `[n, h, w, c]`; a block has 8 by 8 pixels of one image.
#[kernel(
    target = sm_80,
    warps = 4,
    grid = [cdiv(images.dim(2), 8), cdiv(images.dim(1), 8), images.dim(0)]
)]
pub fn gray(images: Tensor<f32, 4>, out: TensorMut<f32, 3>) {
    let (x, y, n) = (block_id(0) * 8, block_id(1) * 8, block_id(2));
    let mut sum = zeros::<f32>([1, 8, 8]);
    for c in range(0, images.dim(3), 16) {
        sum += images.tile([n, y, x, c], [1, 8, 8, 16]).load().sum(3);
    }
    out.tile([n, y, x], [1, 8, 8]).store(sum);
}
// ANCHOR_END: axes

// ANCHOR: slice
/// The sums of the columns of each group of rows: group `g` has rows `ends[g]` to `ends[g + 1]`.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(1), 64), ends.dim(0) - 1])]
pub fn sum_groups(x: Tensor<f32, 2>, ends: Tensor<i32, 1>, out: TensorMut<f32, 2>) {
    let (column, group) = (block_id(0) * 64, block_id(1));
    let first = ends.tile([group], [1]).load().item();
    let end = ends.tile([group + 1], [1]).load().item();
    let mine = x.slice((first..end, ..)); // a tensor of `end - first` rows
    let mut sum = zeros::<f32>([64]);
    for row in range(0, mine.dim(0), 16) {
        sum += mine.tile([row, column], [16, 64]).load().sum(0);
    }
    out.tile([group, column], [1, 64]).store(sum.expand(0));
}
// ANCHOR_END: slice

// ANCHOR: rows
/// Row `i` of `out` is row `tokens[i]` of the table.
#[kernel(target = sm_80, warps = 4, grid = cdiv(tokens.dim(0), 16))]
pub fn embed(table: Tensor<f32, 2>, tokens: Tensor<i32, 1>, out: TensorMut<f32, 2>) {
    let at = block_id(0) * 16;
    let rows = tokens.tile([at], [16]).load();
    out.tile([at, 0], [16, 64]).store(table.tile_rows(rows, [0, 0], [16, 64]).load());
}
// ANCHOR_END: rows

pub fn main() -> kiln::Result<()> {
    let stream = Device::best_for(corner::TARGETS)?.stream()?;
    // ANCHOR: main
    let x = stream.upload(&(1..=100).collect::<Vec<i32>>(), [10, 10])?;
    let mut out = stream.zeros([4, 4])?;
    corner(corner::Args { x: &x, out: &mut out }).launch(&stream)?;
    for row in out.to_vec(&stream)?.chunks(4) {
        println!("{row:?}");
    }
    // ANCHOR_END: main

    let images = stream.full([2, 10, 20, 3], 0.5f32)?;
    let mut sums = stream.zeros([2, 10, 20])?;
    gray(gray::Args { images: &images, out: &mut sums }).launch(&stream)?;
    assert_eq!(sums.to_vec(&stream)?, [1.5; 400]);

    let x = stream.full([50, 100], 1.0f32)?;
    let ends = stream.upload(&[0, 7, 7, 50], [4])?;
    let mut out = stream.zeros([3, 100])?;
    sum_groups(sum_groups::Args { x: &x, ends: &ends, out: &mut out }).launch(&stream)?;
    let out = out.to_vec(&stream)?;
    println!("the groups have {}, {} and {} rows", out[0], out[100], out[200]);
    assert_eq!(out, [[7.0; 100], [0.0; 100], [43.0; 100]].concat());

    let host: Vec<f32> = (0..30 * 64).map(|i| (i / 64) as f32).collect();
    let table = stream.upload(&host, [30, 64])?;
    let tokens = stream.upload(&[5, 29, 5, -1, 30], [5])?;
    let mut out = stream.zeros([5, 64])?;
    embed(embed::Args { table: &table, tokens: &tokens, out: &mut out }).launch(&stream)?;
    let out = out.to_vec(&stream)?;
    assert_eq!(out, [[5.0; 64], [29.0; 64], [5.0; 64], [0.0; 64], [0.0; 64]].concat());
    println!("{:?}", out.iter().copied().step_by(64).collect::<Vec<f32>>());
    Ok(())
}
