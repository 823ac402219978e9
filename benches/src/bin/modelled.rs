//! The times that `kiln trace` models beside those of a GPU: five kernels of many instances each, and how far the two orders of the
//! instances agree (Spearman's rank correlation).
//!
//! `cargo run --release -p benches --bin modelled` on a machine with a GPU. The program starts itself again for the emulator.
#![expect(clippy::print_stdout, reason = "a program that prints its measurements")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use kiln::prelude::*;

/// Elements of `vector_add`; rows and columns of the other inputs.
const SUM: usize = 1 << 24;
const SIDE: usize = 4096;
/// Extents of the products.
const PRODUCT: usize = 2048;

#[kernel(target = sm_80, warps = W, grid = cdiv(out.dim(0), N),
         instances(N = [128, 256, 512, 1024, 4096], W = [1, 4, 8]))]
fn vector_add<const N: i32, const W: i32>(
    a: Tensor<f32, 1>,
    b: Tensor<f32, 1>,
    out: TensorMut<f32, 1>,
) {
    let at = [block_id(0) * N];
    out.tile(at, [N]).store(a.tile(at, [N]).load() + b.tile(at, [N]).load());
}

/// Rows of 4096 columns, some rows a block.
#[kernel(target = sm_80, warps = W, grid = cdiv(x.dim(0), ROWS),
         instances(ROWS = [1, 2, 4], W = [1, 2, 4, 8, 16]))]
fn softmax<const ROWS: i32, const W: i32>(x: Tensor<bf16, 2>, out: TensorMut<bf16, 2>) {
    let row = block_id(0) * ROWS;
    let v = x.tile([row, 0], [ROWS, 4096]).load().cast::<f32>();
    let p = (v - v.max(1).expand(1)).exp();
    let scale = 1.0 / p.sum(1);
    out.tile([row, 0], [ROWS, 4096]).store((p * scale.expand(1)).cast::<bf16>());
}

#[kernel(target = sm_80, warps = W, grid = [cdiv(x.dim(0), M), cdiv(x.dim(1), N)],
         instances((M, N) = [(16, 16), (32, 32), (64, 64), (128, 64), (128, 128)], W = [2, 4, 8]))]
fn transpose<const M: i32, const N: i32, const W: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let (row, column) = (block_id(0) * M, block_id(1) * N);
    out.tile([column, row], [N, M]).store(x.tile([row, column], [M, N]).load().t());
}

/// A product by `mma.sync`, whose copies are `STAGES` steps ahead.
#[kernel(target = sm_80, warps = W, grid = [cdiv(c.dim(0), BM), cdiv(c.dim(1), BN)],
         instances((BM, BN, W) = [(64, 64, 4), (128, 64, 4), (64, 128, 8), (128, 128, 4), (128, 128, 8)],
                   (BK, STAGES) = [(32, 2), (32, 4), (64, 3)]))]
fn by_mma<const BM: i32, const BN: i32, const W: i32, const BK: i32, const STAGES: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f16, 2>,
) {
    let (row, column) = (block_id(0) * BM, block_id(1) * BN);
    let (left, right) = (shared::<f16>([BM, BK]), shared::<f16>([BK, BN]));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in pipeline(range(0, a.dim(1), BK), STAGES) {
        copy_async(a.tile([row, k], [BM, BK]), left);
        copy_async(b.tile([k, column], [BK, BN]), right);
        acc = dot(left.load(), right.load(), acc);
    }
    c.tile([row, column], [BM, BN]).store(acc.cast::<f16>());
}

/// A product by TMA and `wgmma`.
#[kernel(target = sm_90a, warps = W, grid = [cdiv(c.dim(0), BM), cdiv(c.dim(1), BN)],
         instances((BM, W) = [(64, 4), (128, 4), (128, 8)], (BN, STAGES) = [(64, 2), (64, 4), (128, 2), (128, 4), (256, 3)]))]
fn by_wgmma<const BM: i32, const W: i32, const BN: i32, const STAGES: i32>(
    #[block(BM, 64)] a: TensorMap<f16, 2>,
    #[block(64, BN)] b: TensorMap<f16, 2>,
    c: TensorMut<f16, 2>,
) {
    let (row, column) = (block_id(0) * BM, block_id(1) * BN);
    let steps = cdiv(a.dim(1), 64);
    let (left, right) = (shared::<f16>([STAGES, BM, 64]), shared::<f16>([STAGES, 64, BN]));
    let full = barriers(STAGES, 1);
    let copy = |step: i32| {
        if step < steps {
            let slot = step % STAGES;
            full[slot].expect(a.block_bytes() + b.block_bytes());
            tma::load(a, [row, step * 64], full[slot], left[slot]);
            tma::load(b, [step * 64, column], full[slot], right[slot]);
        }
    };
    for step in unroll(0..STAGES - 1) {
        copy(step);
    }
    let mut acc = zeros::<f32>([BM, BN]);
    for step in 0..steps {
        let slot = step % STAGES;
        full[slot].wait(step / STAGES % 2);
        acc = wgmma::mma(left[slot], right[slot], acc);
        acc = wgmma::wait(0, acc);
        sync();
        copy(step + STAGES - 1);
    }
    c.tile([row, column], [BM, BN]).store(acc.cast::<f16>());
}

/// Blocks that do nothing: what starting and ending them costs.
#[kernel(target = sm_80, warps = W, grid = blocks, instances(W = [1, 2, 4, 8, 16, 32]))]
fn idle<const W: i32>(blocks: i32, out: TensorMut<i32, 1>) {
    if blocks == 0 {
        out.tile([0], [1]).store(full::<i32>([1], 1));
    }
}

/// Runs each instance of each kernel, in the same order each time. `each` is told the kernel and the instance, and starts the launch
/// that it is given as often as it likes.
fn all(
    stream: &Stream,
    mut each: impl FnMut(&str, String, &mut dyn FnMut() -> kiln::Result<()>) -> Result<()>,
) -> Result<()> {
    let (a, b) = (stream.full([SUM], 1.0f32)?, stream.full([SUM], 2.0f32)?);
    let mut out = stream.zeros::<f32, 1>([SUM])?;
    for one in vector_add::instances() {
        each("vector_add", one.to_string(), &mut || {
            one.with(vector_add::Args { a: &a, b: &b, out: &mut out }).launch(stream)
        })?;
    }
    let x = stream.full([SIDE, SIDE], bf16::from_f32(0.5))?;
    let mut out = stream.zeros::<bf16, 2>([SIDE, SIDE])?;
    for one in softmax::instances() {
        each("softmax", one.to_string(), &mut || {
            one.with(softmax::Args { x: &x, out: &mut out }).launch(stream)
        })?;
    }
    let x = stream.full([SIDE, SIDE], 0.5f32)?;
    let mut out = stream.zeros::<f32, 2>([SIDE, SIDE])?;
    for one in transpose::instances() {
        each("transpose", one.to_string(), &mut || {
            one.with(transpose::Args { x: &x, out: &mut out }).launch(stream)
        })?;
    }
    let half = f16::from_f32(0.01);
    let (a, b) = (stream.full([PRODUCT; 2], half)?, stream.full([PRODUCT; 2], half)?);
    let mut c = stream.zeros::<f16, 2>([PRODUCT; 2])?;
    for one in by_mma::instances() {
        each("by_mma", one.to_string(), &mut || {
            one.with(by_mma::Args { a: &a, b: &b, c: &mut c }).launch(stream)
        })?;
    }
    for one in by_wgmma::instances() {
        each("by_wgmma", one.to_string(), &mut || {
            one.with(by_wgmma::Args { a: &a, b: &b, c: &mut c }).launch(stream)
        })?;
    }
    Ok(())
}

/// Blocks of `idle`: on every multiprocessor of an H200 a thousand.
const IDLE: i32 = 132_000;

/// Times `idle`, and writes what a block of it costs.
fn starts(stream: &Stream) -> Result<()> {
    println!("\n| warps of a block | us | ns a block of the grid |\n|---|---|---|");
    let mut out = stream.zeros::<i32, 1>([1])?;
    for one in idle::instances() {
        let us = median(stream, &mut || {
            one.with(idle::Args { blocks: IDLE, out: &mut out }).launch(stream)
        })?;
        println!("| {} | {us:.2} | {:.3} |", one.W, 1e3 * us / f64::from(IDLE));
    }
    Ok(())
}

/// Kernel, instance and microseconds.
type Times = Vec<(String, String, f64)>;

/// The median of bursts after pauses, in microseconds.
fn median(stream: &Stream, launch: &mut dyn FnMut() -> kiln::Result<()>) -> Result<f64> {
    const BURST: u32 = 8;
    const ROUNDS: usize = 9;
    let mut each = Vec::new();
    launch()?;
    for _ in 0..ROUNDS {
        stream.synchronize()?;
        std::thread::sleep(Duration::from_millis(5));
        launch()?;
        let start = stream.record()?;
        for _ in 0..BURST {
            launch()?;
        }
        let end = stream.record()?;
        each.push(f64::from(start.elapsed_ms(&end)?) * 1e3 / f64::from(BURST));
    }
    each.sort_by(f64::total_cmp);
    Ok(each[ROUNDS / 2])
}

/// On the GPU.
fn measured(stream: &Stream) -> Result<Times> {
    let mut times = Times::new();
    all(stream, |kernel, instance, launch| {
        times.push((kernel.to_owned(), instance, median(stream, launch)?));
        Ok(())
    })?;
    Ok(times)
}

/// In a program of its own, which `KILN_TRACE` has write a trace for each launch.
fn traced() -> Result<()> {
    let stream = Device::emulator(Target::Sm90a)?.stream()?;
    all(&stream, |_, _, launch| Ok(launch()?))
}

/// The modelled times of the traces of a folder, by kernel, in the order of launches.
fn modelled(folder: &Path, kernels: &Times) -> Result<Vec<f64>> {
    let mut number = 0;
    let mut times = Vec::new();
    for (place, (kernel, _, _)) in kernels.iter().enumerate() {
        number = if place > 0 && kernels[place - 1].0 == *kernel { number + 1 } else { 0 };
        let file = folder.join(format!("{kernel}.{number}.trace.json"));
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let trace: serde_json::Value = serde_json::from_str(&text)?;
        let time = trace["otherData"]["model"]["microseconds"].as_f64();
        times.push(time.with_context(|| format!("{}: no modelled time", file.display()))?);
    }
    Ok(times)
}

/// The place of each number among all, equal ones sharing the mean of theirs.
#[expect(clippy::cast_precision_loss, reason = "there are fifteen of them")]
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let rank = |one: &f64| {
        let less = numbers.iter().filter(|other| *other < one).count();
        let same = numbers.iter().filter(|other| other.total_cmp(one).is_eq()).count();
        less as f64 + (same as f64 - 1.0) / 2.0
    };
    numbers.iter().map(rank).collect()
}

/// The correlation of the ranks.
#[expect(clippy::cast_precision_loss, reason = "there are fifteen of them")]
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let middle = (a.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum()
    };
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some("--traced") {
        return traced();
    }
    let device = match Device::cuda(0) {
        Ok(device) => device,
        Err(error) => {
            println!("no GPU here: {error}");
            return Ok(());
        }
    };
    let stream = device.stream()?;
    let times = measured(&stream)?;
    let folder: PathBuf = first.map_or_else(|| env::temp_dir().join("kiln-modelled"), Into::into);
    fs::create_dir_all(&folder)?;
    let status = Command::new(env::current_exe()?)
        .arg("--traced")
        .env("KILN_TRACE", &folder)
        .env("KILN_TRACE_ONLY", "1")
        .env("KILN_TRACE_DEVICE", "sm_90a")
        .status()?;
    ensure!(status.success(), "the program for the emulator failed");
    let model = modelled(&folder, &times)?;
    println!("on {device}\n\n| kernel | instance | us | modelled us |\n|---|---|---|---|");
    for ((kernel, instance, us), model) in times.iter().zip(&model) {
        println!("| {kernel} | {instance} | {us:.2} | {model:.2} |");
    }
    println!("\n| kernel | instances | rank correlation |\n|---|---|---|");
    let pairs: Vec<_> = times.iter().zip(&model).collect();
    for kernel in pairs.chunk_by(|a, b| a.0.0 == b.0.0) {
        let (us, model): (Vec<f64>, Vec<f64>) =
            kernel.iter().map(|((_, _, us), model)| (us, **model)).unzip();
        let name = kernel.first().map_or("", |((name, _, _), _)| name.as_str());
        println!("| {name} | {} | {:.3} |", us.len(), correlation(&us, &model));
    }
    starts(&stream)
}
