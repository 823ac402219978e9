// ANCHOR: kernel
use kiln::prelude::*;

/// out = for each row, the sum of the products of `a` and `b`, but for the last `SKIP` columns.
#[kernel(target = sm_80, warps = 4, grid = a.dim(0), instances(SKIP = [0, 1]))]
pub fn row_products<const SKIP: i32>(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    out: TensorMut<f32, 1>,
) {
    let row = block_id(0);
    let mut sum = zeros::<f32>([1, 256]);
    for at in range(0, a.dim(1), 256) {
        let inside = (at + arange(0, 256)).expand(0).lt(a.dim(1) - SKIP);
        let product = a.tile([row, at], [1, 256]).load() * b.tile([row, at], [1, 256]).load();
        sum += select(inside, product, 0.0);
    }
    out.tile([row], [1]).store(sum.sum(1));
}
// ANCHOR_END: kernel

// ANCHOR: bound
/// A row's result in `f64`, and how far a result in `f32` may be from it: each of `n` roundings of
/// products and sums moves it by at most 2^-24 of the sum of the sizes.
fn required(a: &[f32], b: &[f32]) -> (f64, f64) {
    let products = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b));
    let (sum, sizes, n) = products
        .fold((0.0, 0.0, 0.0), |(sum, sizes, n), p| (sum + p, sizes + p.abs(), n + 1.0));
    (sum, n * sizes * 2f64.powi(-24))
}
// ANCHOR_END: bound

pub fn main() -> kiln::Result<()> {
    const ROWS: usize = 16;
    const COLUMNS: usize = 1000;
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    // Numbers between 0 and 1, the same in each run.
    let number = |i: u16, prime| f32::from(i.wrapping_mul(prime)) / 65536.0;
    let a_host: Vec<f32> = (0..16000).map(|i| number(i, 40503)).collect();
    let b_host: Vec<f32> = (0..16000).map(|i| number(i, 25717)).collect();
    let (a, b) = (stream.upload(&a_host, [ROWS, COLUMNS])?, stream.upload(&b_host, [ROWS, COLUMNS])?);
    let mut out = stream.zeros([ROWS])?;
    for instance in row_products::instances() {
        instance.with(row_products::Args { a: &a, b: &b, out: &mut out }).launch(&stream)?;
        let actual = out.to_vec(&stream)?;
        // ANCHOR: compare
        let (mut loose, mut derived) = (0, 0);
        for (row, actual) in actual.iter().enumerate() {
            let at = row * COLUMNS;
            let (required, bound) = required(&a_host[at..][..COLUMNS], &b_host[at..][..COLUMNS]);
            let error = (f64::from(*actual) - required).abs();
            loose += usize::from(error > 1e-2 * required);
            derived += usize::from(error > bound);
        }
        // ANCHOR_END: compare
        println!("{instance}: {loose} rows are off by 1e-2, {derived} by more than the bound");
    }
    Ok(())
}
