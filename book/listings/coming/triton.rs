use kiln::prelude::*;
use kiln::random::Philox;

// ANCHOR: add
#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), BLOCK), instances(BLOCK = [256, 1024]))]
pub fn add<const BLOCK: i32>(x: Tensor<f32, 1>, y: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * BLOCK];
    let sum = x.tile(at, [BLOCK]).load() + y.tile(at, [BLOCK]).load();
    out.tile(at, [BLOCK]).store(sum);
}
// ANCHOR_END: add

// ANCHOR: pointers
/// The same with pointers and masks; the launch is unsafe.
#[kernel(target = sm_80, warps = 4, grid = cdiv(n, 1024))]
pub fn add_pointers(x: Ptr<f32>, y: Ptr<f32>, out: Ptr<f32>, #[multiple_of(16)] n: i32) {
    let offsets = block_id(0) * 1024 + arange(0, 1024);
    let mask = offsets.lt(n);
    let sum = load_masked(x + offsets, mask, 0.0) + load_masked(y + offsets, mask, 0.0);
    store_masked(out + offsets, mask, sum);
}
// ANCHOR_END: pointers

// ANCHOR: softmax
#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn softmax(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = [block_id(0), 0];
    let inside = arange(0, 1024).lt(x.dim(1)).expand(0);
    let x = select(inside, x.tile(row, [1, 1024]).load(), f32::NEG_INFINITY);
    let powers = (x - x.max(1).expand(1)).exp();
    out.tile(row, [1, 1024]).store(powers / powers.sum(1).expand(1));
}
// ANCHOR_END: softmax

// ANCHOR: pages
/// The 16 rows of a page of a cache, and those of four pages at once.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn pages(
    cache: Tensor<f32, 4>, // pages, rows, heads, columns
    table: Tensor<i32, 2>, // the pages of each sequence
    i: i32,
    one: TensorMut<f32, 2>,
    four: TensorMut<f32, 4>,
) {
    device_assert(i < table.dim(1));
    let page = table.tile([0, i], [1, 1]).load().item();
    let rows = cache.tile([page, 0, 0, 0], [1, 16, 1, 128]).load().reshape([16, 128]);
    one.tile([0, 0], [16, 128]).store(rows);
    let numbers = table.tile([0, 0], [1, 4]).load().reshape([4]);
    let rows = cache.tile_rows(numbers, [0, 0, 0, 0], [4, 16, 1, 128]).load();
    four.tile([0, 0, 0, 0], [4, 16, 1, 128]).store(rows);
}
// ANCHOR_END: pages

// ANCHOR: dot
/// c = a · b, with copies two steps ahead.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 64)])]
pub fn matmul(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f16, 2>) {
    let (row, column) = (block_id(0) * 64, block_id(1) * 64);
    let (sa, sb) = (shared::<f16>([64, 32]), shared::<f16>([32, 64]));
    let mut acc = zeros::<f32>([64, 64]);
    for k in pipeline(range(0, a.dim(1), 32), 3) {
        copy_async(a.tile([row, k], [64, 32]), sa);
        copy_async(b.tile([k, column], [32, 64]), sb);
        acc = dot(sa, sb, acc);
    }
    c.tile([row, column], [64, 64]).store(acc.cast::<f16>());
}
// ANCHOR_END: dot

// ANCHOR: products
/// Products of f32: rounded to tf32 for tensor cores, and by multiply-add.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn products(a: Tensor<f32, 2>, b: Tensor<f32, 2>, c: TensorMut<f32, 2>, exact: TensorMut<f32, 2>) {
    let (a, b) = (a.tile([0, 0], [32, 32]).load(), b.tile([0, 0], [32, 32]).load());
    let acc = zeros::<f32>([32, 32]);
    c.tile([0, 0], [32, 32]).store(dot_tf32(a, b, acc));
    exact.tile([0, 0], [32, 32]).store(dot(a, b, acc));
}

/// MXFP8: a scale for each 32 numbers of a row of `a`, and of a column of `b`.
#[kernel(target = sm_120a, warps = 4, grid = 1)]
pub fn scaled(
    a: Tensor<e4m3, 2>,
    b: Tensor<e4m3, 2>,
    a_scales: Tensor<ue8m0, 2>,
    b_scales: Tensor<ue8m0, 2>,
    c: TensorMut<f32, 2>,
) {
    let (a, b) = (a.tile([0, 0], [64, 64]).load(), b.tile([0, 0], [64, 64]).load().t());
    let a_scales = a_scales.tile([0, 0], [64, 2]).load();
    let b_scales = b_scales.tile([0, 0], [64, 2]).load();
    let acc = zeros::<f32>([64, 64]);
    c.tile([0, 0], [64, 64]).store(dot_scaled(a, b, acc, a_scales, b_scales));
}
// ANCHOR_END: products

// ANCHOR: tiles
/// Making, comparing and reshaping tiles. Each matrix of `out` has one result.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn shapes(out: TensorMut<i32, 3>) {
    let (rows, columns) = (arange(0, 4), arange(0, 4));
    let (a, b) = (columns.expand(0), rows.expand(1)); // columns[None, :], rows[:, None]
    let x = b * 10 + a; // 0, 1, 2, 3, 10, 11, ..
    let y = select(a.le(b), x, 7); // tl.where(a <= b, x, 7)
    let both = join(x, y); // [4, 4, 2]
    let (_, again) = both.split();
    let results = [
        x.t(),
        again,
        maximum(x, y),
        a.broadcast([4, 4]),
        both.reshape([4, 8]).slice((.., 0..4)), // the first half of tl.interleave(x, y)
        both.permute([2, 0, 1]).sum(0),
        x.cast::<f32>().bitcast::<i32>() >> 23, // the exponents of floats
    ];
    for i in unroll(0..7) {
        out.tile([i, 0, 0], [1, 4, 4]).store(results[i as usize].expand(0));
    }
}
// ANCHOR_END: tiles

// ANCHOR: along
/// Reductions, scans, order and counts. Each row of `out` has one result.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn along(out: TensorMut<i32, 2>) {
    let x = (arange(0, 8) * 3 + 1) & 7; // 1, 4, 7, 2, ..
    let results = [
        x,
        x.cumsum(0),
        x.scan_reverse(0, |a, b| a + b),
        x.sort(0),
        x.gather(0, x.argsort(0)),
        x.top_k(8, 0).0,
        x.flip(0),
        (x & 3).histogram(8),
    ];
    for i in unroll(0..8) {
        out.tile([i, 0], [1, 8]).store(results[i as usize].expand(0));
    }
    let greatest = (x.max(0), x.argmax(0));
    let total = x.reduce(0, |a, b| a + b);
    println!("max {}, argmax {}, total {}", greatest.0.item(), greatest.1.item(), total.item());
}
// ANCHOR_END: along

// ANCHOR: onehot
/// How many elements, and which sum of weights, each of 16 bins gets.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn bins(labels: Tensor<i32, 1>, weights: Tensor<f32, 1>, counts: TensorMut<i32, 1>, sums: TensorMut<f32, 1>) {
    let labels = labels.tile([0], [256]).load();
    counts.tile([0], [16]).store(labels.histogram(16));
    // By a one-hot matrix, for sums that are not counts:
    let hot = labels.expand(1).eq(arange(0, 16).expand(0)); // [256, 16]
    let weights = weights.tile([0], [256]).load().expand(1);
    sums.tile([0], [16]).store(select(hot, weights, 0.0).sum(0));
}
// ANCHOR_END: onehot

// ANCHOR: atomics
/// Column sums by atomic additions, and a ticket for each block.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 16))]
pub fn add_up(x: Tensor<f32, 2>, sums: TensorMut<f32, 1>, tickets: TensorMut<i32, 1>) {
    let part = x.tile([block_id(0) * 16, 0], [16, 64]).load().sum(0);
    sums.tile([0], [64]).atomic_add(part);
    let ticket = tickets.tile([0], [1]).atomic_add(full([1], 1)).item();
    let w = tickets.tile([1 + ticket], [1]);
    let (free, mine) = (full([1], 0), full([1], block_id(0) + 1));
    w.atomic_compare_exchange(free, mine);
}
// ANCHOR_END: atomics

// ANCHOR: rest
/// Dropout of 2^x, with positions in the place of pointers, constants, assertions, random numbers and inline PTX.
#[kernel(target = sm_80, warps = 4, grid = persistent(cdiv(x.dim(0), N)), instances(N = [128]))]
pub fn dropout<const N: i32>(x: TensorMut<f32, 1>, seed: u64) {
    const {
        assert!(N % 32 == 0, "whole warps");
    }
    for tile in range(block_id(0), cdiv(x.dim(0), N), num_blocks(0)) {
        let window = x.tile([tile * N], [N]);
        let old = window.evict_first().load();
        device_assert(old.lt(100.0));
        let power = ptx!("ex2.approx.ftz.f32 {out}, {e};", e = old => f32);
        let at = (tile * N + arange(0, N)).cast::<u64>();
        let keep = Philox::new(seed).uniform(at).lt(0.5);
        window.store(if N > 64 { select(keep, power * 2.0, 0.0) } else { power });
    }
}
// ANCHOR_END: rest

pub fn main() -> kiln::Result<()> {
    // ANCHOR: launch
    let stream = Device::best_for(add::TARGETS)?.stream()?;
    let (x, y) = (stream.full([3000], 1.5f32)?, stream.full([3000], 2.0f32)?);
    let mut out = stream.zeros([3000])?;
    add::<1024>(add::Args { x: &x, y: &y, out: &mut out }).launch(&stream)?;
    println!("{}", out.to_vec(&stream)?[2999]);
    // ANCHOR_END: launch

    let x = stream.full([3, 500], 0.25f32)?;
    let mut out = stream.zeros([3, 500])?;
    softmax(softmax::Args { x: &x, out: &mut out }).launch(&stream)?;
    assert!(out.to_vec(&stream)?.iter().all(|p| (p - 0.002).abs() < 1e-6));

    let half = |x| f16::from_f32(x);
    let (a, b) = (stream.full([70, 40], half(0.5))?, stream.full([40, 90], half(2.0))?);
    let mut c = stream.zeros([70, 90])?;
    matmul(matmul::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
    assert_eq!(c.to_vec(&stream)?, [half(40.0); 70 * 90]);

    let (a, b) = (stream.full([32, 32], 0.5f32)?, stream.full([32, 32], 2.0f32)?);
    let (mut c, mut exact) = (stream.zeros([32, 32])?, stream.zeros([32, 32])?);
    products(products::Args { a: &a, b: &b, c: &mut c, exact: &mut exact }).launch(&stream)?;
    assert_eq!(c.to_vec(&stream)?, [32.0; 1024]);
    assert_eq!(exact.to_vec(&stream)?, [32.0; 1024]);

    let mut out = stream.zeros([7, 4, 4])?;
    shapes(shapes::Args { out: &mut out }).launch(&stream)?;
    let names = ["t", "select", "maximum", "broadcast", "interleave", "sum", "bitcast"];
    for (name, rows) in names.iter().zip(out.to_vec(&stream)?.chunks(16)) {
        println!("{name:<12} {rows:?}");
    }

    let mut out = stream.zeros([8, 8])?;
    along(along::Args { out: &mut out }).launch(&stream)?;
    let names = ["x", "cumsum", "scan_reverse", "sort", "gather", "top_k", "flip", "histogram"];
    for (name, row) in names.iter().zip(out.to_vec(&stream)?.chunks(8)) {
        println!("{name:<12} {row:?}");
    }

    let cache: Vec<f32> = (0..6 * 16 * 2 * 128).map(|i| (i / (16 * 2 * 128)) as f32).collect();
    let (cache, table) = (stream.upload(&cache, [6, 16, 2, 128])?, stream.upload(&[3, 1, 5, 0], [1, 4])?);
    let (mut one, mut four) = (stream.zeros([16, 128])?, stream.zeros([4, 16, 1, 128])?);
    let args = pages::Args { cache: &cache, table: &table, i: 2, one: &mut one, four: &mut four };
    pages(args).launch(&stream)?;
    assert_eq!(one.to_vec(&stream)?, [5.0; 16 * 128]);
    let first: Vec<f32> = four.to_vec(&stream)?.chunks(16 * 128).map(|page| page[0]).collect();
    println!("pages        {first:?}");

    let labels: Vec<i32> = (0..256).map(|i| i % 3).collect();
    let (labels, weights) = (stream.upload(&labels, [256])?, stream.full([256], 0.5f32)?);
    let (mut counts, mut sums) = (stream.zeros([16])?, stream.zeros([16])?);
    let (counts_mut, sums_mut) = (&mut counts, &mut sums);
    bins(bins::Args { labels: &labels, weights: &weights, counts: counts_mut, sums: sums_mut })
        .launch(&stream)?;
    assert_eq!(counts.to_vec(&stream)?[..4], [86, 85, 85, 0]);
    assert_eq!(sums.to_vec(&stream)?[..4], [43.0, 42.5, 42.5, 0.0]);

    let x = stream.full([50, 64], 1.0f32)?;
    let (mut sums, mut tickets) = (stream.zeros([64])?, stream.zeros([5])?);
    add_up(add_up::Args { x: &x, sums: &mut sums, tickets: &mut tickets }).launch(&stream)?;
    assert_eq!(sums.to_vec(&stream)?, [50.0; 64]);
    let mut tickets = tickets.to_vec(&stream)?;
    tickets[1..].sort_unstable();
    assert_eq!(tickets, [4, 1, 2, 3, 4]);

    let mut x = stream.full([1000], 3.0f32)?;
    dropout::<128>(dropout::Args { x: &mut x, seed: 7 }).launch(&stream)?;
    let keeps = (0..1000).map(|at| Philox::new(7).uniform_at(at) < 0.5);
    let required: Vec<f32> = keeps.map(|keep| if keep { 16.0 } else { 0.0 }).collect();
    assert_eq!(x.to_vec(&stream)?, required);

    let stream = Device::best_for(scaled::TARGETS)?.stream()?;
    let ones = stream.full([64, 64], e4m3::from_f32(1.0))?;
    let (twos, halves) = (ue8m0::from_bits(128), ue8m0::from_bits(126));
    let (a_scales, b_scales) = (stream.full([64, 2], twos)?, stream.full([64, 2], halves)?);
    let mut c = stream.zeros([64, 64])?;
    let args =
        scaled::Args { a: &ones, b: &ones, a_scales: &a_scales, b_scales: &b_scales, c: &mut c };
    scaled(args).launch(&stream)?;
    assert_eq!(c.to_vec(&stream)?, [64.0; 4096]);
    Ok(())
}
