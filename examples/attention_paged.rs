//! Attention of the newest tokens of several sequences, whose keys and values lie in pages that a table names.
//!
//! `cargo run --release --example attention_paged [-- SEQUENCES LENGTH]`
//!
//! Each iteration of the pipelined loop copies a page of keys and one of values. The compiler starts the copies iterations ahead, and loads the
//! numbers of the pages one iteration before that. Every instance is checked against attention computed on the host, and timed on a GPU.

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "an example prints, measures in f64, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

#[path = "support/norm.rs"]
mod norm;
#[path = "support/report.rs"]
mod report;

/// One block computes the queries that share one head of keys and values: up to 16 of one sequence.
///
/// `q` and `out` are sequences × heads × queries × `D`, `keys` and `values` pages × heads × `PAGE` × `D`. A row of `table` has the pages of a
/// sequence, whose last page may be filled in part; `lengths` has the numbers of tokens. `scale` includes log2(e).
#[kernel(target = sm_80, warps = 4, grid = [q.dim(1), q.dim(0)],
         instances(T = [f16, bf16], (PAGE, STAGES) = [(16, 4), (64, 2)], D = [64, 128]))]
pub fn attention_paged<T: Float, const PAGE: i32, const STAGES: i32, const D: i32>(
    q: Tensor<T, 4>,
    keys: Tensor<T, 4>,
    values: Tensor<T, 4>,
    table: Tensor<i32, 2>,
    lengths: Tensor<i32, 1>,
    scale: f32,
    out: TensorMut<T, 4>,
) {
    let (head, sequence) = (block_id(0), block_id(1));
    let length = lengths.tile([sequence], [1]).load().item();
    let queries = q.tile([sequence, head, 0, 0], [1, 1, 16, D]).load().reshape([16, D]);
    let (ks, vs) = (shared::<T>([PAGE, D]), shared::<T>([PAGE, D]));
    let mut top = full::<f32>([16], f32::MIN);
    let mut total = zeros::<f32>([16]);
    let mut acc = zeros::<f32>([16, D]);
    for k in pipeline(0..cdiv(length, PAGE), STAGES) {
        let page = table.tile([sequence, k], [1, 1]).load().item();
        copy_async(keys.tile([page, head, 0, 0], [1, 1, PAGE, D]), ks);
        copy_async(values.tile([page, head, 0, 0], [1, 1, PAGE, D]), vs);
        let s = dot(queries, ks.t(), zeros::<f32>([16, PAGE])) * scale;
        let token = k * PAGE + arange(0, PAGE).expand(0);
        let s = select(token.lt(length), s, f32::MIN);
        let new_top = maximum(top, s.max(1));
        let shrink = (top - new_top).exp2_approx();
        let p = (s - new_top.expand(1)).exp2_approx();
        total = total * shrink + p.sum(1);
        acc = dot(p.cast::<T>(), vs, acc * shrink.expand(1));
        top = new_top;
    }
    // The largest weight of a query is 1. Without tokens the total is 0, and the result too.
    let result = (acc / maximum(total, 1.0).expand(1)).cast::<T>();
    out.tile([sequence, head, 0, 0], [1, 1, 16, D]).store(result.reshape([1, 1, 16, D]));
}

/// Heads of keys and values, and the queries of each. The kernel reads and writes no queries past these.
const HEADS: usize = 2;
const QUERIES: usize = 8;

/// A cache of pages on the host, with what the kernel takes of it.
struct Cache<T> {
    keys: Vec<T>,
    values: Vec<T>,
    /// The pages of each sequence, all rows of one width. Past the last page of a sequence there are numbers of no page.
    table: Vec<i32>,
    width: usize,
    lengths: Vec<i32>,
    count: usize,
}

impl<T: Float> Cache<T> {
    /// That of sequences of up to `longest` tokens, every fourth without any. They have their first page in common, as sequences that
    /// begin alike have.
    fn new([sequences, longest]: [usize; 2], page: usize, d: usize) -> Self {
        let lengths: Vec<usize> =
            (0..sequences).map(|sequence| longest * (3 - sequence % 4) / 3).collect();
        // Rows of the table begin at multiples of 16 bytes: so the launch may assume that tensors are aligned.
        let width = longest.div_ceil(page).next_multiple_of(4);
        let count = 1 + sequences * longest.div_ceil(page);
        let mut table = vec![i32::MAX; sequences * width];
        for (sequence, length) in lengths.iter().enumerate() {
            for at in 0..length.div_ceil(page) {
                // From the last page of the cache to the first.
                let own = count - 1 - (at * sequences + sequence);
                table[sequence * width + at] = if at == 0 { 0 } else { own as i32 };
            }
        }
        let numbers = |seed| -> Vec<T> {
            let random = report::random(count * HEADS * page * d, seed);
            random.into_iter().map(|x| T::of(4.0 * x)).collect()
        };
        let lengths = lengths.into_iter().map(|length| length as i32).collect();
        Cache { keys: numbers(1), values: numbers(2), table, width, lengths, count }
    }

    /// Where the numbers of a token of a sequence begin.
    fn at(&self, [sequence, head, token]: [usize; 3], page: usize, d: usize) -> usize {
        let there = self.table[sequence * self.width + token / page] as usize;
        ((there * HEADS + head) * page + token % page) * d
    }

    /// Attention in f64 of one query.
    fn reference(
        &self,
        q: &[T],
        [sequence, head]: [usize; 2],
        page: usize,
        scale: f64,
    ) -> Vec<f64> {
        let d = q.len();
        let tokens = 0..self.lengths[sequence] as usize;
        let places: Vec<usize> =
            tokens.map(|token| self.at([sequence, head, token], page, d)).collect();
        let number = |value: &T| value.cast::<f64>();
        let score = |at: &usize| {
            let products = self.keys[*at..][..d].iter().zip(q).map(|(k, q)| number(k) * number(q));
            products.sum::<f64>() * scale
        };
        let scores: Vec<f64> = places.iter().map(score).collect();
        let top = scores.iter().copied().fold(f64::MIN, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - top).exp()).collect();
        let total = weights.iter().sum::<f64>().max(1.0);
        let column = |column: usize| {
            let terms = places.iter().zip(&weights);
            terms.map(|(at, weight)| weight * number(&self.values[at + column])).sum::<f64>()
                / total
        };
        (0..d).map(column).collect()
    }
}

/// The arguments of the kernel.
struct Tensors<'a, T> {
    q: &'a DeviceTensor<T, 4>,
    keys: &'a DeviceTensor<T, 4>,
    values: &'a DeviceTensor<T, 4>,
    table: &'a DeviceTensor<i32, 2>,
    lengths: &'a DeviceTensor<i32, 1>,
    scale: f32,
    out: &'a mut DeviceTensor<T, 4>,
}

/// An instance: tokens in a page, elements of a head, and its launch.
type Instance<T> = (usize, usize, for<'a> fn(Tensors<'a, T>) -> Launch<'a>);

/// The instances for an element type.
macro_rules! instances {
    ($ty:ty: $($page:literal $stages:literal $d:literal),*) => {
        [$(($page, $d, |Tensors { q, keys, values, table, lengths, scale, out }| {
            let args = attention_paged::Args { q, keys, values, table, lengths, scale, out };
            attention_paged::<$ty, $page, $stages, $d>(args)
        })),*]
    };
}

/// Runs instances, checks each against the reference to within `tolerance`, and times it.
fn run<T: Element + Float>(
    stream: &Stream,
    sizes: [usize; 2],
    instances: &[Instance<T>],
    tolerance: f64,
    report: &mut report::Table,
) -> Result<()> {
    let [sequences, longest] = sizes;
    for (page, d, make) in instances {
        let (page, d) = (*page, *d);
        let cache = Cache::<T>::new(sizes, page, d);
        let shape = [sequences, HEADS, QUERIES, d];
        let pages = [cache.count, HEADS, page, d];
        let q_host: Vec<T> =
            report::random(shape.iter().product(), 3).into_iter().map(|x| T::of(4.0 * x)).collect();
        let q = stream.upload(&q_host, shape)?;
        let keys = stream.upload(&cache.keys, pages)?;
        let values = stream.upload(&cache.values, pages)?;
        let table = stream.upload(&cache.table, [sequences, cache.width])?;
        let lengths = stream.upload(&cache.lengths, [sequences])?;
        let mut out = stream.full(shape, T::NAN)?;
        let root = (d as f64).sqrt().recip();
        let scale = (root * std::f64::consts::LOG2_E) as f32;
        let mut launch = || {
            let (q, keys, values) = (&q, &keys, &values);
            let (table, lengths, out) = (&table, &lengths, &mut out);
            make(Tensors { q, keys, values, table, lengths, scale, out }).launch(stream)
        };
        launch()?;
        let ms = report::median_ms(stream, launch)?;
        let actual = out.to_vec(stream)?;
        let rows = q_host.chunks(d).zip(actual.chunks(d)).enumerate();
        let error = norm::relative_error(rows.flat_map(|(row, (q, actual))| {
            let place = [row / (HEADS * QUERIES), row / QUERIES % HEADS];
            let required = cache.reference(q, place, page, root);
            required.into_iter().zip(actual.iter().map(|value| value.cast::<f64>()))
        }));
        let tokens: usize = cache.lengths.iter().map(|length| *length as usize).sum();
        let bytes = 2 * tokens * HEADS * d * size_of::<T>();
        let name = format!("{} pages of {page}, head {d}", T::DTYPE);
        report.row(&[&sequences, &longest, &name], error, ms, bytes as f64);
        assert!(
            error < tolerance,
            "{name}, {sequences} sequences of up to {longest}: relative error {error}"
        );
    }
    Ok(())
}

fn main() -> Result<()> {
    let device = Device::best_for(attention_paged::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<2>() {
        Some(given) => given,
        None if device.is_emulator() => [4, 200],
        None => [64, 4096],
    };
    let columns = ["sequences", "longest", "instance", "rel. error", "ms", "GB/s"];
    let mut table = report::Table::new(&columns);
    let progress = report::progress(2, "attention_paged");
    // Weights and results are rounded to 11 and to 8 bits.
    let f16s: [Instance<f16>; 4] = instances!(f16: 16 4 64, 64 2 64, 16 4 128, 64 2 128);
    run(&stream, sizes, &f16s, 1.5e-3, &mut table)?;
    progress.inc(1);
    let bf16s: [Instance<bf16>; 4] = instances!(bf16: 16 4 64, 64 2 64, 16 4 128, 64 2 128);
    run(&stream, sizes, &bf16s, 1e-2, &mut table)?;
    progress.finish_and_clear();
    table.print();
    Ok(())
}
