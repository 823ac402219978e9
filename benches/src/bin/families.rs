//! The kernels of `kiln-kernels` that the memory bounds, beside a copy of as many bytes, and attention, in one process.
//!
//! `cargo run --release -p benches --bin families [-- TEXT] [--pause MS] [--rounds N]`: those whose name contains the text.
#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a program that prints its measurements"
)]

use std::time::Duration;

use anyhow::{Context, Result};
use benches::{
    bursts::{self, Bursts},
    data,
};
use kiln::prelude::*;
use kiln_kernels::{
    Activation,
    attention::{Attention, Mask, Options, Pages},
    embedding::{SortedTokens, Sums, embed, embed_backward},
    pointwise::{
        AdamW, Direction, Dropout, Pairs, Parameter, Rotation, Scaling, activate, cast, dequantize,
        dropout, gate, gate_backward, quantize, rotate, transpose,
    },
    rows::{
        CrossEntropy, NormGradients, add_rms_norm, cross_entropy, cross_entropy_backward,
        layer_norm, rms_norm, softmax, softmax_backward,
    },
};

type Launch<'a> = dyn FnMut(&Stream) -> Result<()> + 'a;

/// What is timed, and what it moves or computes.
struct Timed<'a> {
    name: String,
    work: Work,
    launch: Box<Launch<'a>>,
}

#[derive(Clone, Copy)]
enum Work {
    /// Bytes read and written: the peer copies half as many.
    Bytes(usize),
    /// Operations of the tensor cores.
    Operations(f64),
}

struct Bench {
    stream: Stream,
    bursts: Bursts,
    only: Option<String>,
    /// What the peer copies, and to where.
    copied: DeviceTensor<u8, 1>,
    copy: DeviceTensor<u8, 1>,
}

impl Bench {
    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|text| name.contains(text.as_str()))
    }

    fn time(&mut self, mut timed: Timed<'_>) -> Result<()> {
        let name = &timed.name;
        match timed.work {
            Work::Bytes(bytes) => {
                let half = (bytes / 2).min(self.copied.len()); // a longer copy is no faster
                let from = self.copied.slice(0, 0..half)?;
                let mut to = self.copy.slice_mut(0, 0..half)?;
                let times = bursts::medians(&self.stream, self.bursts, 2, |at, stream| match at {
                    0 => Ok(stream.copy(&from, &mut to)?),
                    _ => (timed.launch)(stream),
                })?;
                let (copy, own) = (2e-3 * half as f64 / times[0], 1e-3 * bytes as f64 / times[1]);
                let share = own / copy;
                println!(
                    "| {name} | {:.2} | {own:.0} GB/s | {copy:.0} GB/s | {share:.3} |",
                    times[1]
                );
            }
            Work::Operations(operations) => {
                let launch = |_, stream: &Stream| (timed.launch)(stream);
                let times = bursts::medians(&self.stream, self.bursts, 1, launch)?;
                println!(
                    "| {name} | {:.2} | {:.1} TFLOP/s | | |",
                    times[0],
                    1e-6 * operations / times[0]
                );
            }
        }
        Ok(())
    }

    fn normal<const R: usize>(
        &self,
        shape: [usize; R],
        seed: u64,
    ) -> Result<DeviceTensor<bf16, R>> {
        let len = shape.iter().product();
        Ok(self.stream.upload(&data::normal(len, seed, bf16::from_f32), shape)?)
    }
}

/// An element of bf16.
const HALF: usize = 2;

fn rows(bench: &mut Bench) -> Result<()> {
    for [rows, columns] in [[8192, 8192], [65536, 2048], [4096, 32768], [1024, 131_072]] {
        let shape = [rows, columns];
        let len = rows * columns;
        if !bench.wants("rows") {
            return Ok(());
        }
        let (x, dy) = (bench.normal(shape, 1)?, bench.normal(shape, 2)?);
        let mut y = bench.stream.zeros::<bf16, 2>(shape)?;
        let mut sum = bench.stream.zeros::<bf16, 2>(shape)?;
        let (weight, bias) = (bench.normal([columns], 3)?, bench.normal([columns], 4)?);
        let name = |what: &str| format!("rows: {what} {rows}x{columns}");
        let work = |tensors: usize| Work::Bytes(HALF * tensors * len);
        bench.time(Timed {
            name: name("softmax"),
            work: work(2),
            launch: Box::new(|stream| Ok(softmax(stream, &x, &mut y)?)),
        })?;
        bench.time(Timed {
            name: name("softmax_backward"),
            work: work(3),
            launch: Box::new(|stream| Ok(softmax_backward(stream, &x, &dy, &mut y)?)),
        })?;
        bench.time(Timed {
            name: name("rms_norm"),
            work: work(2),
            launch: Box::new(|stream| Ok(rms_norm(stream, &x, &weight, 1e-5, &mut y)?)),
        })?;
        bench.time(Timed {
            name: name("add_rms_norm"),
            work: work(4),
            launch: Box::new(|stream| {
                Ok(add_rms_norm(stream, &x, &dy, &weight, 1e-5, &mut sum, &mut y)?)
            }),
        })?;
        bench.time(Timed {
            name: name("layer_norm"),
            work: work(2),
            launch: Box::new(|stream| {
                Ok(layer_norm(stream, &x, &weight, Some(&bias), 1e-5, &mut y)?)
            }),
        })?;
        let mut gradients = NormGradients::new(&bench.stream)?;
        let mut dweight = bench.stream.zeros::<bf16, 1>([columns])?;
        bench.time(Timed {
            name: name("rms_norm's gradients"),
            work: work(3),
            launch: Box::new(|stream| {
                Ok(gradients.rms_norm(
                    stream,
                    &x,
                    &weight,
                    1e-5,
                    &dy,
                    None,
                    &mut y,
                    &mut dweight,
                )?)
            }),
        })?;
    }
    let shape = [4096, 128_256];
    let logits = bench.normal(shape, 5)?;
    let targets: Vec<i32> = (0..4096).map(|row| row * 31).collect();
    let targets = bench.stream.upload(&targets, [4096])?;
    let mut loss = bench.stream.zeros::<f32, 1>([4096])?;
    let mut sums = bench.stream.zeros::<f32, 1>([4096])?;
    let ones = bench.stream.full([4096], 1.0f32)?;
    let mut gradient = bench.stream.zeros::<bf16, 2>(shape)?;
    let bytes = HALF * shape[0] * shape[1];
    bench.time(Timed {
        name: "rows: cross_entropy 4096x128256".to_owned(),
        work: Work::Bytes(bytes),
        launch: Box::new(|stream| {
            let sums: &mut dyn kiln::TensorArgumentMut<f32, 1> = &mut sums;
            Ok(cross_entropy(
                stream,
                &logits,
                &targets,
                CrossEntropy::default(),
                &mut loss,
                Some(sums),
            )?)
        }),
    })?;
    bench.time(Timed {
        name: "rows: cross_entropy_backward 4096x128256".to_owned(),
        work: Work::Bytes(2 * bytes),
        launch: Box::new(|stream| {
            let options = CrossEntropy::default();
            Ok(cross_entropy_backward(
                stream,
                &logits,
                &targets,
                options,
                &sums,
                &ones,
                &mut gradient,
            )?)
        }),
    })
}

#[expect(clippy::too_many_lines, reason = "a list")]
fn pointwise(bench: &mut Bench) -> Result<()> {
    if !bench.wants("pointwise") {
        return Ok(());
    }
    let shape = [16384, 8192];
    let len = shape[0] * shape[1];
    let (x, up, grad) = (bench.normal(shape, 1)?, bench.normal(shape, 2)?, bench.normal(shape, 3)?);
    let mut out = bench.stream.zeros::<bf16, 2>(shape)?;
    let mut other = bench.stream.zeros::<bf16, 2>(shape)?;
    let name = |what: &str| format!("pointwise: {what}");
    let work = |tensors: usize| Work::Bytes(HALF * tensors * len);
    for activation in [Activation::Silu, Activation::Gelu] {
        bench.time(Timed {
            name: name(&format!("activate {activation:?}")),
            work: work(2),
            launch: Box::new(|stream| Ok(activate(stream, activation, &x, &mut out)?)),
        })?;
        bench.time(Timed {
            name: name(&format!("gate {activation:?}")),
            work: work(3),
            launch: Box::new(|stream| Ok(gate(stream, activation, &x, &up, &mut out)?)),
        })?;
        bench.time(Timed {
            name: name(&format!("gate_backward {activation:?}")),
            work: work(5),
            launch: Box::new(|stream| {
                Ok(gate_backward(stream, activation, [&x, &up], &grad, &mut out, &mut other)?)
            }),
        })?;
    }
    bench.time(Timed {
        name: name("dropout"),
        work: work(2),
        launch: Box::new(|stream| {
            let how = Dropout { probability: 0.1, seed: 1, offset: 2 };
            Ok(dropout(stream, how, &x, &mut out)?)
        }),
    })?;
    let mut wide = bench.stream.zeros::<f32, 2>(shape)?;
    bench.time(Timed {
        name: name("cast bf16 to f32"),
        work: work(3),
        launch: Box::new(|stream| Ok(cast(stream, &x, &mut wide)?)),
    })?;
    bench.time(Timed {
        name: name("cast f32 to bf16"),
        work: work(3),
        launch: Box::new(|stream| Ok(cast(stream, &wide, &mut out)?)),
    })?;
    let mut bytes = bench.stream.zeros::<e4m3, 2>(shape)?;
    for scaling in [Scaling::Rows, Scaling::RowBlocks, Scaling::Squares] {
        let mut scales = bench.stream.zeros::<f32, 2>(scaling.scales(shape))?;
        let work = Work::Bytes(3 * len);
        bench.time(Timed {
            name: name(&format!("quantize {scaling:?}")),
            work,
            launch: Box::new(|stream| Ok(quantize(stream, scaling, &x, &mut bytes, &mut scales)?)),
        })?;
        bench.time(Timed {
            name: name(&format!("dequantize {scaling:?}")),
            work,
            launch: Box::new(|stream| Ok(dequantize(stream, scaling, &bytes, &scales, &mut out)?)),
        })?;
    }
    let batch = x.reshape([1, shape[0], shape[1]])?;
    let mut turned = bench.stream.zeros::<bf16, 3>([1, shape[1], shape[0]])?;
    bench.time(Timed {
        name: name("transpose"),
        work: work(2),
        launch: Box::new(|stream| Ok(transpose(stream, &batch, &mut turned)?)),
    })?;
    let (tokens, heads, dim) = (shape[0], 64, 128);
    let positions: Vec<i32> = (0..).take(tokens).collect();
    let positions = bench.stream.upload(&positions, [tokens])?;
    let table = bench.stream.full([tokens, dim / 2], 0.5f32)?;
    let (heads_of_x, mut heads_of_out) =
        (x.reshape([tokens, heads, dim])?, other.reshape_mut([tokens, heads, dim])?);
    for pairs in [Pairs::Halves, Pairs::Neighbours] {
        let rotation = Rotation { pairs, direction: Direction::Forward };
        bench.time(Timed {
            name: name(&format!("rotate {pairs:?}")),
            work: work(2),
            launch: Box::new(|stream| {
                let tables = [&table, &table];
                Ok(rotate(stream, rotation, &positions, tables, &heads_of_x, &mut heads_of_out)?)
            }),
        })?;
    }
    let mut values = bench.normal([len], 1)?;
    let gradient = grad.reshape([len])?;
    let (mut mean, mut square) =
        (bench.stream.zeros::<f32, 1>([len])?, bench.stream.zeros::<f32, 1>([len])?);
    bench.time(Timed {
        name: name("AdamW"),
        work: Work::Bytes(22 * len),
        launch: Box::new(|stream| {
            let mut parameters = [Parameter {
                values: &mut values,
                gradient: &gradient,
                mean: &mut mean,
                mean_square: &mut square,
                master: None,
            }];
            Ok(AdamW::default().step(stream, 1, &mut parameters)?)
        }),
    })
}

fn embeddings(bench: &mut Bench) -> Result<()> {
    if !bench.wants("embedding") {
        return Ok(());
    }
    let (vocabulary, dim, count) = (32000, 4096, 16384);
    let table = bench.normal([vocabulary, dim], 1)?;
    let tokens: Vec<i32> = (0..count).map(|at| (at * 7919) % 32000).collect();
    let len = tokens.len();
    let on_device = bench.stream.upload(&tokens, [len])?;
    let mut out = bench.stream.zeros::<bf16, 2>([len, dim])?;
    bench.time(Timed {
        name: "embedding: embed".to_owned(),
        work: Work::Bytes(2 * HALF * len * dim),
        launch: Box::new(|stream| Ok(embed(stream, &on_device, &table, &mut out)?)),
    })?;
    let grad = bench.normal([len, dim], 2)?;
    let mut sums = bench.stream.zeros::<f32, 2>([vocabulary, dim])?;
    let sorted = SortedTokens::of_host(&bench.stream, &tokens)?;
    // What is added to is read and written.
    let work = Work::Bytes((HALF + 8) * len * dim);
    bench.time(Timed {
        name: "embedding: embed_backward in order".to_owned(),
        work,
        launch: Box::new(|stream| {
            Ok(embed_backward(stream, Sums::InOrder(&sorted), &grad, &mut sums)?)
        }),
    })?;
    bench.time(Timed {
        name: "embedding: embed_backward, atomic".to_owned(),
        work,
        launch: Box::new(|stream| {
            Ok(embed_backward(stream, Sums::Atomic(&on_device), &grad, &mut sums)?)
        }),
    })
}

fn attention(bench: &mut Bench) -> Result<()> {
    if !bench.wants("attention") {
        return Ok(());
    }
    let mut attention = Attention::new(&bench.stream)?;
    for (heads, dim, length) in [(16, 128, 16384), (16, 64, 16384), (64, 128, 4096), (8, 256, 8192)]
    {
        let shape = [1, length, heads, dim];
        let [q, k, v] = [bench.normal(shape, 1)?, bench.normal(shape, 2)?, bench.normal(shape, 3)?];
        let mut out = bench.stream.zeros::<bf16, 4>(shape)?;
        for mask in [Mask::Full, Mask::Causal] {
            let whole = 4.0 * (heads * dim) as f64 * (length as f64).powi(2);
            let operations = if mask == Mask::Full { whole } else { whole / 2.0 };
            bench.time(Timed {
                name: format!("attention: forward {mask:?}, {heads} heads of {dim}, {length} keys"),
                work: Work::Operations(operations),
                launch: Box::new(|stream| {
                    let options = Options { mask, ..Options::default() };
                    Ok(attention.forward(stream, &q, &k, &v, &mut out, options)?)
                }),
            })?;
        }
    }
    for (batch, heads, key_heads, length) in
        [(1, 32, 8, 65536), (16, 32, 8, 8192), (64, 64, 8, 4096)]
    {
        let (dim, page) = (128, 64);
        let pages = batch * length / page;
        let shape = [pages, page, key_heads, dim];
        let (keys, values) = (bench.normal(shape, 1)?, bench.normal(shape, 2)?);
        let q = bench.normal([batch, 1, heads, dim], 3)?;
        let mut out = bench.stream.zeros::<bf16, 4>([batch, 1, heads, dim])?;
        let numbers = i32::try_from(pages).context("too many pages")?;
        let table: Vec<i32> = (0..numbers).map(|at| (at * 17 + 5) % numbers).collect();
        let table = bench.stream.upload(&table, [batch, length / page])?;
        let lengths = vec![i32::try_from(length).context("too long")?; batch];
        let lengths = bench.stream.upload(&lengths, [batch])?;
        bench.time(Timed {
            name: format!(
                "attention: decode, {batch} of {length} keys, {heads} heads on {key_heads}"
            ),
            work: Work::Bytes(2 * HALF * batch * length * key_heads * dim),
            launch: Box::new(|stream| {
                let pages = Pages { table: &table, lengths: &lengths };
                let options = Options::default();
                Ok(attention.decode(stream, &q, &keys, &values, pages, &mut out, options)?)
            }),
        })?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| -> Result<Option<usize>> {
        let at = args.iter().position(|arg| arg == name);
        at.map(|at| args.get(at + 1).context("a number is missing")?.parse().context("no number"))
            .transpose()
    };
    let mut bursts = Bursts { rounds: 5, ..Bursts::default() };
    if let Some(ms) = after("--pause")? {
        bursts.pause = Duration::from_millis(ms as u64);
    }
    if let Some(rounds) = after("--rounds")? {
        bursts.rounds = rounds;
    }
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    let (copied, copy) = (stream.zeros([1 << 28])?, stream.zeros([1 << 28])?);
    let only = args.first().filter(|arg| !arg.starts_with("--")).cloned();
    let mut bench = Bench { stream, bursts, only, copied, copy };
    println!("on {device}");
    println!("| kernel | us | rate | rate of the copy | share |");
    println!("|---|---|---|---|---|");
    rows(&mut bench)?;
    pointwise(&mut bench)?;
    embeddings(&mut bench)?;
    attention(&mut bench)
}
