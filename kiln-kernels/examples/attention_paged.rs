//! Attention of the newest token of several sequences, whose keys and values are in pages that a table names.
//!
//! `cargo run --release -p kiln-gpu-kernels --example attention_paged [-- SEQUENCES LENGTH]`

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "an example prints, measures in f64, and has parts in common with others"
)]

use kiln::prelude::*;
use kiln_kernels::attention::{Attention, Options, Pages};

#[path = "../../examples/support/norm.rs"]
mod norm;
#[path = "../../examples/support/report.rs"]
#[expect(dead_code, reason = "one run has no bar")]
mod report;

/// Keys of a page.
const PAGE: usize = 64;
/// Heads of keys and values, and how many heads of queries share each.
const KEY_HEADS: usize = 2;
const SHARE: usize = 8;
/// The numbers of a head.
const D: usize = 128;

fn main() -> Result<()> {
    let device = Device::best_for(Attention::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let [sequences, longest] = match report::sizes::<2>() {
        Some(given) => given,
        None if device.is_emulator() => [4, 200],
        None => [64, 4096],
    };
    // Every fourth sequence is empty. All have their first page in common, as sequences that begin alike have; the others are from the
    // last one of the cache to the first. Past the last page of a sequence the table has numbers of no page.
    let lengths: Vec<usize> = (0..sequences).map(|at| longest * (3 - at % 4) / 3).collect();
    let width = longest.div_ceil(PAGE);
    let count = 1 + sequences * width;
    let page_of = |sequence: usize, at: usize| match at {
        0 => 0,
        _ if at * PAGE < lengths[sequence] => (count - at * sequences - sequence - 1) as i32,
        _ => i32::MAX,
    };
    let pages: Vec<i32> = (0..sequences * width).map(|i| page_of(i / width, i % width)).collect();
    let numbers = |len: usize, seed| -> Vec<bf16> {
        report::random(len, seed).into_iter().map(|x| bf16::from_f32(4.0 * x)).collect()
    };
    let (heads, row) = (KEY_HEADS * SHARE, KEY_HEADS * D);
    let q_host = numbers(sequences * heads * D, 3);
    let [keys_host, values_host] = [1, 2].map(|seed| numbers(count * PAGE * row, seed));

    let q = stream.upload(&q_host, [sequences, 1, heads, D])?;
    let keys = stream.upload(&keys_host, [count, PAGE, KEY_HEADS, D])?;
    let values = stream.upload(&values_host, [count, PAGE, KEY_HEADS, D])?;
    let mut out = stream.full([sequences, 1, heads, D], bf16::NAN)?;
    let lengths_given: Vec<i32> = lengths.iter().map(|&length| length as i32).collect();
    let pages_given = Pages {
        table: &stream.upload(&pages, [sequences, width])?,
        lengths: &stream.upload(&lengths_given, [sequences])?,
    };
    let mut attention = Attention::new(&stream)?;
    let mut decode =
        || attention.decode(&stream, &q, &keys, &values, pages_given, &mut out, Options::default());
    decode()?;
    let ms = report::median_ms(&stream, decode)?;

    let actual = out.to_vec(&stream)?;
    let queries = q_host.chunks(D).zip(actual.chunks(D)).enumerate();
    let error = norm::relative_error(queries.flat_map(|(at, (q, actual))| {
        let (sequence, head) = (at / heads, at % heads / SHARE);
        let place = |key: usize| {
            let page = pages[sequence * width + key / PAGE] as usize;
            (page * PAGE + key % PAGE) * row + head * D
        };
        let places: Vec<usize> = (0..lengths[sequence]).map(place).collect();
        let actual = actual.iter().map(|x| x.to_f64());
        required(q, &keys_host, &values_host, &places).into_iter().zip(actual)
    }));
    // Weights and results are rounded to 8 bits.
    assert!(error < 1e-2, "relative error {error}");
    let mut table =
        report::Table::new(&["sequences", "longest", "keys", "rel. error", "ms", "GB/s"]);
    let keys = lengths.iter().sum::<usize>();
    table.row(
        &[&sequences, &longest, &keys],
        error,
        ms,
        (2 * keys * row * size_of::<bf16>()) as f64,
    );
    table.print();
    Ok(())
}

/// Attention of a query to the keys that begin at these places, in f64: zeros without keys.
fn required(q: &[bf16], keys: &[bf16], values: &[bf16], places: &[usize]) -> Vec<f64> {
    let score = |&at: &usize| -> f64 {
        let products = q.iter().zip(&keys[at..]).map(|(q, key)| q.to_f64() * key.to_f64());
        products.sum::<f64>() / (D as f64).sqrt()
    };
    let scores: Vec<f64> = places.iter().map(score).collect();
    let top = scores.iter().copied().fold(f64::MIN, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (score - top).exp()).collect();
    let total = weights.iter().sum::<f64>().max(1.0);
    let sum = |column: usize| {
        let terms = places.iter().zip(&weights);
        terms.map(|(at, weight)| weight * values[at + column].to_f64()).sum::<f64>()
    };
    (0..D).map(|column| sum(column) / total).collect()
}
