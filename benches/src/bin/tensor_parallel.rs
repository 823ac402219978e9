//! Two products split over the machine's GPUs, y = (x · a) · b with `a` by columns and `b` by rows, and the all-reduce that adds up y: what
//! a layer of a large model costs with tensor parallelism. Its peer is `benches/peers/tensor_parallel.py`.
//!
//! `cargo run --release -p benches --bin tensor_parallel` has a thread for each GPU. Started by a launcher of processes, as in
//! `torchrun --no-python --nproc-per-node 2 target/release/tensor_parallel`, it is one rank of them.
#![expect(
    clippy::print_stdout,
    clippy::many_single_char_names,
    reason = "a program that prints its measurements, and names matrices as its formula does"
)]

use std::{thread, time::Duration};

use anyhow::{Result, ensure};
use kiln::{Comm, ReduceOp, Rendezvous, prelude::*};

#[path = "../../../examples/matmul_warp_specialized.rs"]
#[expect(dead_code, reason = "only the kernel is used")]
#[expect(clippy::duplicate_mod, reason = "the example stands for itself, with its report")]
mod example;
#[path = "../../../examples/support/report.rs"]
#[expect(
    dead_code,
    unreachable_pub,
    clippy::cast_precision_loss,
    reason = "only its times are used, and here alone"
)]
mod report;

use example::gemm::matmul;

/// Rows of x; its columns; columns of `a`, over all ranks: the two outer matrices of a 70-billion-parameter Llama's feed-forward layer.
const SIZES: [[usize; 3]; 2] = [[4096, 8192, 28672], [512, 8192, 28672]];

type Matrix = DeviceTensor<bf16, 2>;

/// c = a · b.
fn product(stream: &Stream, a: &Matrix, b: &Matrix, c: &mut Matrix) -> kiln::Result<()> {
    matmul::<bf16, bf16, 256, 64, 3, true, false>(matmul::Args { a, b, c }).launch(stream)
}

/// What each rank does: median times in milliseconds, which the first prints, of matrices of 1 and -1.
fn rank(comm: &Comm, how: &str) -> Result<()> {
    let stream = comm.device().stream()?;
    let ranks = comm.world_size();
    for [m, k, n] in SIZES {
        ensure!(n % ranks == 0, "{n} columns over {ranks} ranks");
        let width = n / ranks;
        let signs = |len: usize, seed| -> Vec<bf16> {
            let random = report::random(len, seed);
            random.into_iter().map(|x| bf16::from_f32(if x < 0.0 { -1.0 } else { 1.0 })).collect()
        };
        let part = comm.rank() as u64;
        let x = signs(m * k, 1);
        let a = signs(k * width, 2 + 2 * part);
        let b = signs(width * k, 3 + 2 * part);
        let (x_here, a_here, b_here) = (
            stream.upload(&x, [m, k])?,
            stream.upload(&a, [k, width])?,
            stream.upload(&b, [width, k])?,
        );
        let (mut hidden, mut y) = (stream.zeros([m, width])?, stream.zeros([m, k])?);

        comm.barrier(&stream)?;
        let products = report::median_ms(&stream, || {
            product(&stream, &x_here, &a_here, &mut hidden)?;
            product(&stream, &hidden, &b_here, &mut y)
        })?;
        comm.barrier(&stream)?;
        let reduce = report::median_ms(&stream, || {
            comm.all_reduce_in_place(&stream, &mut y, ReduceOp::Sum)
        })?;
        comm.barrier(&stream)?;
        let both = report::median_ms(&stream, || {
            product(&stream, &x_here, &a_here, &mut hidden)?;
            product(&stream, &hidden, &b_here, &mut y)?;
            comm.all_reduce_in_place(&stream, &mut y, ReduceOp::Sum)
        })?;
        comm.wait(&stream)?;
        check(comm, &stream, [&x, &a, &b], [&hidden, &y])?;
        if comm.rank() == 0 {
            let ms = |ms: Option<f64>| ms.map_or("-".to_owned(), |ms| format!("{ms:.4}"));
            println!(
                "kiln, {how}, {ranks} ranks, {m} x {k} x {n}: products {} ms, all-reduce {} ms, both {} ms",
                ms(products),
                ms(reduce),
                ms(both)
            );
        }
    }
    Ok(())
}

/// Compares some sums of the last run with the host's.
fn check(
    comm: &Comm,
    stream: &Stream,
    [x, a, b]: [&[bf16]; 3],
    [hidden, y]: [&Matrix; 2],
) -> Result<()> {
    let [[_, width], [_, k]] = [hidden.shape(), y.shape()];
    let (hidden, y) = (hidden.to_vec(stream)?, y.to_vec(stream)?);
    let dot = |left: &[bf16], right: &[bf16], columns: usize, column: usize| -> f64 {
        let right = right.iter().skip(column).step_by(columns);
        left.iter().zip(right).map(|(x, y)| x.to_f64() * y.to_f64()).sum()
    };
    let places: Vec<[usize; 2]> = (0..16).map(|i| [i * 29 % (y.len() / k), i * 997 % k]).collect();
    // This rank's parts of those sums, and their magnitudes.
    let mut parts: Vec<f32> = Vec::new();
    for &[row, column] in &places {
        let required = dot(&x[row * k..][..k], a, width, column % width);
        let actual = hidden[row * width + column % width].to_f64();
        // Sums of signs are whole numbers, which f32 holds; bf16 rounds the result by at most 2^-8 of it.
        ensure!((actual - required).abs() <= required.abs() / 256.0, "{actual}, not {required}");
        #[expect(clippy::cast_possible_truncation, reason = "whole numbers below 2^24")]
        let part = dot(&hidden[row * width..][..width], b, k, column) as f32;
        parts.extend([part, part.abs()]);
    }
    let mut sums = stream.upload(&parts, [places.len(), 2])?;
    comm.all_reduce_in_place(stream, &mut sums, ReduceOp::Sum)?;
    let ranks = f64::from(u32::try_from(comm.world_size())?);
    for (&[row, column], sums) in places.iter().zip(sums.to_vec(stream)?.as_chunks::<2>().0) {
        let (actual, required) = (y[row * k + column].to_f64(), f64::from(sums[0]));
        // Each part, and each of the sums on the way, is rounded to bf16: by at most 2^-8 of all magnitudes.
        let tolerance = f64::from(sums[1]) * ranks / 256.0;
        ensure!(
            (actual - required).abs() <= tolerance,
            "y[{row}, {column}]: {actual}, not {required}"
        );
    }
    Ok(())
}

fn main() -> Result<()> {
    let limit = Duration::from_secs(60);
    if Rendezvous::is_in_env() {
        let place = Rendezvous::from_env()?;
        let comm = Comm::init(&Device::cuda(place.local_rank)?, &place)?.with_timeout(limit);
        return rank(&comm, "a process for each");
    }
    let devices = (0..Device::cuda_count()?).map(Device::cuda).collect::<kiln::Result<Vec<_>>>()?;
    let comms = Comm::in_process(&devices)?;
    thread::scope(|scope| {
        let ranks: Vec<_> = comms
            .into_iter()
            .map(|comm| scope.spawn(move || rank(&comm.with_timeout(limit), "a thread for each")))
            .collect();
        ranks.into_iter().try_for_each(|rank| rank.join().expect("a rank has panicked"))
    })
}
