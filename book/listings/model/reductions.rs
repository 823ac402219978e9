use kiln::prelude::*;

// ANCHOR: axes
/// A tile of 4 by 8 numbers from 0 to 31, along each axis and along both.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn along(rows: TensorMut<i32, 1>, columns: TensorMut<i32, 1>, all: TensorMut<i32, 1>) {
    let x = arange(0, 32).reshape([4, 8]);
    rows.tile([0], [4]).store(x.sum(1)); // removes axis 1
    columns.tile([0], [8]).store(x.max(0)); // removes axis 0
    let sum: i32 = x.sum([0, 1]).item(); // a scalar
    all.tile([0], [1]).store(full([1], sum));
    all.tile([1], [1]).store(x.argmax(1).max(0).expand(0)); // the column of the greatest
}
// ANCHOR_END: axes

// ANCHOR: closure
/// The product of each row, by a closure; and mean and variance of all elements, in one pass.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn closures(x: Tensor<f32, 2>, products: TensorMut<f32, 1>, moments: TensorMut<f32, 1>) {
    let x = x.tile([0, 0], [4, 8]).load();
    products.tile([0], [4]).store(x.reduce(1, |a, b| a * b));
    let (sum, squares) = (x, x * x).reduce([0, 1], |(a, b), (c, d)| (a + c, b + d));
    let mean = sum / 32.0;
    moments.tile([0], [2]).store(join(mean, squares / 32.0 - mean * mean));
}
// ANCHOR_END: closure

// ANCHOR: scans
/// Running sums in four ways.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn scans(out: TensorMut<i32, 2>) {
    let x = arange(1, 9); // 1 to 8
    let add = |a, b| a + b;
    out.tile([0, 0], [1, 8]).store(x.cumsum(0).expand(0));
    out.tile([1, 0], [1, 8]).store(x.scan_exclusive(0, 0, add).expand(0));
    out.tile([2, 0], [1, 8]).store(x.scan_reverse(0, add).expand(0));
    out.tile([3, 0], [1, 8]).store(x.scan_reverse_exclusive(0, 0, add).expand(0));
}
// ANCHOR_END: scans

// ANCHOR: recurrence
/// The states of h[t] = a[t] · h[t - 1] + b[t]: a scan over pairs.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn recurrence(a: Tensor<f32, 1>, b: Tensor<f32, 1>, h: TensorMut<f32, 1>) {
    let (a, b) = (a.tile([0], [256]).load(), b.tile([0], [256]).load());
    let (_, states) = (a, b).scan(0, |(a, h), (b, g)| (a * b, h * b + g));
    h.tile([0], [256]).store(states);
}
// ANCHOR_END: recurrence

// ANCHOR: order
/// Sorted keys, the values beside them, the three greatest of eight (as four, of which one is left
/// out), and counts.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn order(keys: Tensor<i32, 1>, out: TensorMut<i32, 2>) {
    let keys = keys.tile([0], [8]).load();
    let places = keys.argsort(0);
    out.tile([0, 0], [1, 8]).store(keys.gather(0, places).expand(0));
    out.tile([1, 0], [1, 8]).store(places.expand(0));
    let (best, _) = keys.top_k(4, 0);
    out.tile([2, 0], [1, 4]).store(select(arange(0, 4).lt(3), best, 0).expand(0));
    out.tile([3, 0], [1, 8]).store(keys.histogram(8).expand(0));
}
// ANCHOR_END: order

// ANCHOR: blocks
/// The sum of a whole tensor: each block reduces its part, and adds it to one element.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
pub fn total(x: Tensor<i32, 1>, out: TensorMut<i32, 1>) {
    let part = x.tile([block_id(0) * 1024], [1024]).load().sum(0);
    out.tile([0], [1]).atomic_add(part.expand(0));
}
// ANCHOR_END: blocks

pub fn main() -> kiln::Result<()> {
    let stream = Device::best_for(along::TARGETS)?.stream()?;
    // ANCHOR: main
    let (mut rows, mut columns) = (stream.zeros([4])?, stream.zeros([8])?);
    let mut all = stream.zeros([2])?;
    along(along::Args { rows: &mut rows, columns: &mut columns, all: &mut all }).launch(&stream)?;
    println!("{:?} {:?}", rows.to_vec(&stream)?, columns.to_vec(&stream)?);
    println!("{:?}", all.to_vec(&stream)?);

    let mut out = stream.zeros([4, 8])?;
    scans(scans::Args { out: &mut out }).launch(&stream)?;
    for row in out.to_vec(&stream)?.chunks(8) {
        println!("{row:?}");
    }

    let mut out = stream.zeros([4, 8])?;
    let keys = stream.upload(&[5, 1, 7, 1, 0, 6, 7, 2], [8])?;
    order(order::Args { keys: &keys, out: &mut out }).launch(&stream)?;
    for row in out.to_vec(&stream)?.chunks(8) {
        println!("{row:?}");
    }
    // ANCHOR_END: main

    let x = stream.full([4, 8], 2.0f32)?;
    let (mut products, mut moments) = (stream.zeros([4])?, stream.zeros([2])?);
    let args = closures::Args { x: &x, products: &mut products, moments: &mut moments };
    closures(args).launch(&stream)?;
    assert_eq!(products.to_vec(&stream)?, [256.0; 4]);
    assert_eq!(moments.to_vec(&stream)?, [2.0, 0.0]);

    let (a, b) = (stream.full([256], 0.5f32)?, stream.full([256], 1.0f32)?);
    let mut h = stream.zeros([256])?;
    recurrence(recurrence::Args { a: &a, b: &b, h: &mut h }).launch(&stream)?;
    assert_eq!(h.to_vec(&stream)?[..4], [1.0, 1.5, 1.75, 1.875]);

    let x = stream.full([5000], 3)?;
    let mut out = stream.zeros([1])?;
    total(total::Args { x: &x, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [15000]);
    Ok(())
}
