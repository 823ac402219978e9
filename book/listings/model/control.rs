use kiln::prelude::*;

// ANCHOR: range
/// The sum of products of two vectors of any length, by one block.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn inner(a: Tensor<f32, 1>, b: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let mut sum = zeros::<f32>([512]);
    for at in range(0, a.dim(0), 512) {
        sum += a.tile([at], [512]).load() * b.tile([at], [512]).load();
    }
    out.tile([0], [1]).store(sum.sum(0).expand(0));
}
// ANCHOR_END: range

// ANCHOR: unroll
/// A polynomial with `N` coefficients, the one of the highest power first. The loop becomes `N` lines.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256), instances(N = [3, 4]))]
pub fn polynomial<const N: usize>(x: TensorMut<f32, 1>, coefficients: [f32; N]) {
    let window = x.tile([block_id(0) * 256], [256]);
    let x = window.load();
    let mut y = zeros::<f32>([256]);
    for i in unroll(0..N as i32) {
        y = fma(y, x, coefficients[i as usize]);
    }
    window.store(y);
}
// ANCHOR_END: unroll

// ANCHOR: if
/// Halves each row until its sum is at most `limit`; a block has one row, and takes its own number of steps.
#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn limit(x: TensorMut<f32, 2>, limit: f32, steps: TensorMut<i32, 1>) {
    let window = x.tile([block_id(0), 0], [1, 256]);
    let mut row = window.load();
    let mut taken = 0;
    while row.sum([0, 1]).item() > limit {
        row *= 0.5;
        taken += 1;
    }
    if taken > 0 {
        window.store(row);
    }
    steps.tile([block_id(0)], [1]).store(full([1], taken));
}
// ANCHOR_END: if

// ANCHOR: select
/// Elementwise: the square where an element is positive, otherwise an eighth of it.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256))]
pub fn bend(x: TensorMut<f32, 1>) {
    let window = x.tile([block_id(0) * 256], [256]);
    let x = window.load();
    window.store(select(x.gt(0.0), x * x, x * 0.125));
}
// ANCHOR_END: select

// ANCHOR: map
/// The same with a closure over one element, in which `if` is allowed.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256))]
pub fn bend_each(x: TensorMut<f32, 1>) {
    let window = x.tile([block_id(0) * 256], [256]);
    window.store(window.load().map(|x| if x > 0.0 { x * x } else { x * 0.125 }));
}
// ANCHOR_END: map

// ANCHOR: pipeline
/// The sums of the columns. Copies to shared memory run two iterations ahead of the additions.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(1), 64))]
pub fn column_sums(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let column = block_id(0) * 64;
    let staged = shared::<f32>([16, 64]);
    let mut sum = zeros::<f32>([64]);
    for row in pipeline(range(0, x.dim(0), 16), 3) {
        copy_async(x.tile([row, column], [16, 64]), staged);
        sum += staged.load().sum(0);
    }
    out.tile([column], [64]).store(sum);
}
// ANCHOR_END: pipeline

pub fn main() -> kiln::Result<()> {
    let stream = Device::best_for(inner::TARGETS)?.stream()?;
    // ANCHOR: main
    let x = stream.full([1000], 2.0f32)?;
    let mut out = stream.zeros([1])?;
    inner(inner::Args { a: &x, b: &x, out: &mut out }).launch(&stream)?;
    println!("inner: {:?}", out.to_vec(&stream)?);

    let mut x = stream.upload(&[0.0, 1.0, 2.0f32], [3])?;
    // x² + 2 x + 3
    polynomial::<3>(polynomial::Args { x: &mut x, coefficients: [1.0, 2.0, 3.0] }).launch(&stream)?;
    println!("polynomial: {:?}", x.to_vec(&stream)?);

    let host: Vec<f32> = (0..3 * 256).map(|i| (i / 256 * 3) as f32 / 64.0).collect();
    let mut x = stream.upload(&host, [3, 256])?; // the sums are 0, 12 and 24
    let mut steps = stream.zeros([3])?;
    limit(limit::Args { x: &mut x, limit: 5.0, steps: &mut steps }).launch(&stream)?;
    println!("steps: {:?}", steps.to_vec(&stream)?);

    let mut x = stream.upload(&[3.0, -4.0f32], [2])?;
    bend(bend::Args { x: &mut x }).launch(&stream)?;
    println!("bend: {:?}", x.to_vec(&stream)?);

    let x = stream.full([100, 100], 0.5f32)?;
    let mut sums = stream.zeros([100])?;
    column_sums(column_sums::Args { x: &x, out: &mut sums }).launch(&stream)?;
    println!("column 99: {}", sums.to_vec(&stream)?[99]);
    // ANCHOR_END: main
    assert_eq!(sums.to_vec(&stream)?, [50.0; 100]);
    let mut x = stream.upload(&[3.0, -4.0f32], [2])?;
    bend_each(bend_each::Args { x: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [9.0, -0.5]);
    let mut x = stream.upload(&[2.0f32], [1])?;
    let coefficients = [1.0, 0.0, 0.0, 1.0];
    polynomial::<4>(polynomial::Args { x: &mut x, coefficients }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [9.0]);
    Ok(())
}
