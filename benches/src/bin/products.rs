//! Products of matrices in bf16 with the weights as `[n, k]`: `kiln-kernels` beside the best algorithm of cuBLASLt, in one process.
//!
//! `cargo run --release -p benches --bin products [-- --rows 1,16,128] [--weights 4096x4096,6144x4096] [--plans] [--pause MS] [--rounds N]`
//!
//! With `--plans` the other candidates of the chooser are timed too, as far as its model expects no more than 1.4 times the least time of them:
//! `fit` reads the table.
#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a program that prints its measurements"
)]

use std::{str::FromStr, time::Duration};

use anyhow::{Context, Result, ensure};
use benches::{
    bursts::{self, Bursts},
    cublaslt::CublasLt,
    data,
};
use kiln::prelude::*;
use kiln_kernels::matmul::{Epilogue, Major, Matmul, Model, Plan, Sums};

/// Rows of the left factor: from one token to a batch of training.
const ROWS: [usize; 9] = [1, 8, 16, 64, 128, 512, 2048, 4096, 8192];
/// `[n, k]` of layers of models, and two whose rows do not begin at multiples of 128 bytes.
const WEIGHTS: [[usize; 2]; 12] = [
    [4096, 4096],
    [6144, 4096],
    [28672, 4096],
    [4096, 14336],
    [8192, 8192],
    [10240, 8192],
    [8192, 28672],
    [2112, 7168],
    [7168, 2048],
    [32000, 4096],
    [4000, 4104],
    [1000, 1096],
];
/// The largest difference from the peer's result, in proportion: both round the same sums, in another order, to bf16.
const OFF: f64 = 1e-2;

/// Candidates that the model expects to take longer than the chosen one by more than this are not timed.
const PLAUSIBLE: f64 = 1.4;

fn number<T: FromStr<Err = std::num::ParseIntError>>(text: &str) -> Result<T> {
    text.parse().with_context(|| format!("`{text}` is no number"))
}

struct Asked {
    rows: Vec<usize>,
    weights: Vec<[usize; 2]>,
    plans: bool,
    bursts: Bursts,
}

impl Asked {
    fn from_args() -> Result<Asked> {
        let args: Vec<String> = std::env::args().skip(1).collect();
        let after = |name: &str| {
            let at = args.iter().position(|arg| arg == name)?;
            args.get(at + 1).map(String::as_str)
        };
        let weights = |text: &str| {
            let (n, k) = text.split_once('x').with_context(|| format!("`{text}`: N x K"))?;
            Ok([number(n)?, number(k)?])
        };
        let mut bursts = Bursts::default();
        if let Some(ms) = after("--pause") {
            bursts.pause = Duration::from_millis(number(ms)?);
        }
        if let Some(rounds) = after("--rounds") {
            bursts.rounds = number(rounds)?;
        }
        Ok(Asked {
            rows: match after("--rows") {
                Some(list) => list.split(',').map(number).collect::<Result<_>>()?,
                None => ROWS.to_vec(),
            },
            weights: match after("--weights") {
                Some(list) => list.split(',').map(weights).collect::<Result<_>>()?,
                None => WEIGHTS.to_vec(),
            },
            plans: args.iter().any(|arg| arg == "--plans"),
            bursts,
        })
    }
}

/// The relative error of the first and of the last rows, by Frobenius's norm.
fn error(
    stream: &Stream,
    actual: &DeviceTensor<bf16, 2>,
    required: &DeviceTensor<bf16, 2>,
) -> Result<f64> {
    const ROWS: usize = 40;
    let rows = actual.shape()[0];
    let (mut off, mut whole) = (0.0, 0.0);
    for part in [0..rows.min(ROWS), rows.saturating_sub(ROWS)..rows] {
        let actual = actual.slice(0, part.clone())?.to_vec(stream)?;
        let required = required.slice(0, part)?.to_vec(stream)?;
        for (x, y) in actual.iter().zip(&required) {
            off += (x.to_f64() - y.to_f64()).powi(2);
            whole += y.to_f64().powi(2);
        }
    }
    Ok((off / whole).sqrt())
}

fn main() -> Result<()> {
    let asked = Asked::from_args()?;
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    let multiprocessors = device.properties().multiprocessors as usize;
    let library = CublasLt::new(&stream)?;
    let mut matmul = Matmul::new(&stream)?;
    let mut ratios = Vec::new();
    println!("on {device}");
    println!("| m | n | k | plan | us | TFLOP/s | GB/s | cuBLASLt us | peer / Kiln |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for &[n, k] in &asked.weights {
        let b = stream.upload(&data::normal(n * k, 2, bf16::from_f32), [n, k])?;
        for &m in &asked.rows {
            let a = stream.upload(&data::normal(m * k, 1, bf16::from_f32), [m, k])?;
            let product = library.product::<bf16>([m, n, k])?;
            let mut required = stream.full([m, n], bf16::NAN)?;
            product.launch(0, &stream, &a, &b, &mut required)?;

            let chosen = Plan::choose::<bf16, bf16, bf16>(
                [1, m, n, k],
                [Major::K; 2],
                Sums::Precise,
                multiprocessors,
            );
            let mut plans: Vec<Plan> = chosen.iter().copied().collect();
            if asked.plans {
                let expected = |plan: &Plan| plan.microseconds(&Model::H200, multiprocessors);
                let most = chosen.as_ref().map_or(0.0, |plan| PLAUSIBLE * expected(plan));
                let others = Plan::candidates::<bf16, bf16, bf16>(
                    [1, m, n, k],
                    [Major::K; 2],
                    Sums::Precise,
                    multiprocessors,
                );
                plans.extend(others.into_iter().filter(|plan| expected(plan) < most));
            }
            let mut c = stream.full([m, n], bf16::NAN)?;
            for plan in &plans {
                stream.fill(&mut c, bf16::NAN)?;
                matmul.product_by(&stream, *plan, &a, &b, &mut c, Epilogue::default())?;
                let off = error(&stream, &c, &required)?;
                // NaN, which nothing overwrote, is not below anything.
                ensure!(off < OFF, "{plan} at {m}x{n}x{k}: relative error {off}");
            }

            // The peer's algorithms are told apart in bursts of their own.
            let quick = Bursts { pause: Duration::from_millis(5), rounds: 3, ..asked.bursts };
            let peers = bursts::medians(&stream, quick, product.algorithms(), |at, stream| {
                product.launch(at, stream, &a, &b, &mut c)
            })?;
            let best = (0..peers.len()).min_by(|&one, &other| peers[one].total_cmp(&peers[other]));
            let best = best.context("cuBLASLt has no algorithm")?;
            let times = bursts::medians(&stream, asked.bursts, plans.len() + 1, |at, stream| {
                match at.checked_sub(1) {
                    None => product.launch(best, stream, &a, &b, &mut c),
                    Some(at) => Ok(matmul.product_by(
                        stream,
                        plans[at],
                        &a,
                        &b,
                        &mut c,
                        Epilogue::default(),
                    )?),
                }
            })?;
            for (plan, us) in plans.iter().zip(&times[1..]) {
                let operations = 2e-6 * m as f64 * n as f64 * k as f64 / us;
                let bytes = 2e-3 * (m * k + n * k + m * n) as f64 / us;
                let (peer, ratio) = (times[0], times[0] / us);
                println!(
                    "| {m} | {n} | {k} | {plan} | {us:.2} | {operations:.1} | {bytes:.0} | {peer:.2} | {ratio:.3} |"
                );
            }
            ratios.push(times[0] / times[1]);
        }
    }
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    println!("\n{} shapes: geometric mean {mean:.3}, least {least:.3}", ratios.len());
    Ok(())
}
