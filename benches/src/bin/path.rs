//! The steps of the book's path to fast kernels, each beside what it is compared with there: all of one run, in one process.
//!
//! `cargo run --release -p benches --bin path`
#![expect(
    dead_code,
    unreachable_pub,
    unused_qualifications,
    clippy::duplicate_mod,
    clippy::many_single_char_names,
    reason = "only the kernels are used, of programs that stand for themselves"
)]
#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "a program that prints its measurements; sums of two numbers are exact"
)]

use anyhow::{Result, ensure};
use benches::{
    bursts::{self, Bursts, Contender, Own},
    cublaslt::CublasLt,
    data,
};
use kiln::prelude::*;

/// Programs of the book and examples, as they are there.
macro_rules! programs {
    ($($name:ident: $path:literal),+ $(,)?) => {
        $(
            #[path = $path]
            mod $name;
        )+
    };
}

programs! {
    elements: "../../../book/listings/path/elements.rs",
    softmax_passes: "../../../book/listings/path/softmax_passes.rs",
    transpose_conflicts: "../../../book/listings/path/transpose_conflicts.rs",
    product_wgmma: "../../../book/listings/path/product_wgmma.rs",
    specialized: "../../../book/listings/path/specialized.rs",
    clusters: "../../../book/listings/path/clusters.rs",
    flash_attention: "../../../examples/flash_attention.rs",
    matmul_async_copy: "../../../examples/matmul_async_copy.rs",
    matmul_pipelined: "../../../examples/matmul_pipelined.rs",
    matmul_persistent: "../../../examples/matmul_persistent.rs",
    matmul_warp_specialized: "../../../examples/matmul_warp_specialized.rs",
    matmul_wgmma: "../../../examples/matmul_wgmma.rs",
    report: "../../../examples/support/report.rs",
    softmax: "../../../examples/softmax.rs",
    transpose: "../../../examples/transpose.rs",
}

use kiln::sched::{Clustered, Grouped, Linear, Persistent};

/// Floors are those of the book: `book/listings/path/floors.rs`.
const BANDWIDTH: f64 = 4259e9;
const RATE: f64 = 989e12;

/// Puts a launch on a stream.
type Launched<'a> = Box<dyn FnMut(&Stream) -> Result<()> + 'a>;

/// What is timed under a name.
struct Step<'a> {
    name: &'static str,
    launch: Own<Launched<'a>>,
}

fn step<'a>(name: &'static str, launch: impl FnMut(&Stream) -> Result<()> + 'a) -> Step<'a> {
    Step { name, launch: Own::new(Box::new(launch)) }
}

/// A step that launches a kernel of Kiln.
macro_rules! own {
    ($name:literal, $launch:expr) => {
        step($name, |stream| Ok($launch.launch(stream)?))
    };
}

/// Times steps that do the same work, whose floor is in microseconds, and writes their rows.
fn time(stream: &Stream, work: &str, floor_us: f64, mut steps: Vec<Step<'_>>) -> Result<()> {
    let mut contenders: Vec<&mut dyn Contender> = Vec::new();
    contenders.extend(steps.iter_mut().map(|step| &mut step.launch as &mut dyn Contender));
    let times = bursts::medians_of(stream, Bursts::default(), &mut contenders)?;
    for (step, us) in steps.iter().zip(times) {
        println!("| {work} | {} | {us:.1} | {:.3} |", step.name, floor_us / us);
    }
    Ok(())
}

/// The floor of what moves so many bytes, in microseconds.
fn moved(bytes: usize) -> f64 {
    1e6 * bytes as f64 / BANDWIDTH
}

/// The relative error by Frobenius's norm.
fn error(pairs: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let (mut off, mut whole) = (0.0, 0.0);
    for (actual, required) in pairs {
        off += (actual - required).powi(2);
        whole += required.powi(2);
    }
    (off / whole).sqrt()
}

/// 2^28 sums.
fn vector_add(stream: &Stream) -> Result<()> {
    use elements::vector_add;
    const LEN: usize = 1 << 28;
    let host = data::normal(LEN, 1, |x| x);
    let (a, b) = (stream.upload(&host, [LEN])?, stream.full([LEN], 1.0f32)?);
    let mut outs = Vec::new();
    for instance in vector_add::instances() {
        let mut out = stream.full([LEN], f32::NAN)?;
        instance.with(vector_add::Args { a: &a, b: &b, out: &mut out }).launch(stream)?;
        let right = out.to_vec(stream)?.iter().zip(&host).all(|(sum, x)| *sum == x + 1.0);
        ensure!(right, "{instance}: wrong sums");
        outs.push((instance, out));
    }
    let steps = outs.iter_mut().map(|(instance, out)| {
        let name = match instance.N {
            128 => "N = 128",
            256 => "N = 256",
            512 => "N = 512",
            1024 => "N = 1024",
            _ => "N = 2048",
        };
        let (a, b) = (&a, &b);
        step(name, move |stream| {
            Ok(instance.with(vector_add::Args { a, b, out }).launch(stream)?)
        })
    });
    time(stream, "vector_add, f32 2^28", moved(12 * LEN), steps.collect())
}

/// Rows of 8192 in bf16, of 4096 in f32, and of 32768 in bf16.
fn softmax(stream: &Stream) -> Result<()> {
    use crate::softmax::{softmax, softmax_wide};
    use softmax_passes::{in_passes, in_registers};
    let rows = |out: &[f64], x: &[f64], columns: usize| {
        error(x.chunks(columns).zip(out.chunks(columns)).step_by(997).flat_map(|(x, out)| {
            let top = x.iter().copied().fold(f64::MIN, f64::max);
            let total: f64 = x.iter().map(|x| (x - top).exp()).sum();
            let pairs = out.iter().zip(x).map(move |(out, x)| (*out, (x - top).exp() / total));
            pairs.collect::<Vec<_>>()
        }))
    };
    let halves = |tensor: &DeviceTensor<bf16, 2>| -> Result<Vec<f64>> {
        Ok(tensor.to_vec(stream)?.into_iter().map(bf16::to_f64).collect())
    };
    {
        let shape @ [height, width] = [65536, 4096];
        let x = stream.upload(&data::normal(height * width, 1, |x| x), shape)?;
        let singles = |tensor: &DeviceTensor<f32, 2>| -> Result<Vec<f64>> {
            Ok(tensor.to_vec(stream)?.into_iter().map(f64::from).collect())
        };
        let (mut slow, mut fast) = (stream.full(shape, f32::NAN)?, stream.full(shape, f32::NAN)?);
        in_passes::<1024>(in_passes::Args { x: &x, out: &mut slow }).launch(stream)?;
        in_registers::<4096>(in_registers::Args { x: &x, out: &mut fast }).launch(stream)?;
        let host = singles(&x)?;
        for out in [&slow, &fast] {
            let off = rows(&singles(out)?, &host, width);
            ensure!(off < 1e-5, "softmax in f32: relative error {off}");
        }
        let steps = vec![
            own!("three passes", { in_passes::<1024>(in_passes::Args { x: &x, out: &mut slow }) }),
            own!("in registers", {
                in_registers::<4096>(in_registers::Args { x: &x, out: &mut fast })
            }),
        ];
        time(stream, "softmax, f32 65536x4096", moved(8 * height * width), steps)?;
    }
    for shape @ [height, width] in [[65536, 8192], [8192, 32768]] {
        let x = stream.upload(&data::normal(height * width, 1, bf16::from_f32), shape)?;
        let mut out = stream.full(shape, bf16::NAN)?;
        let work = format!("softmax, bf16 {height}x{width}");
        let steps = vec![step("softmax", |stream| {
            let (x, out) = (&x, &mut out);
            if width > 16384 {
                softmax_wide::<bf16, 8192>(softmax_wide::Args { x, out }).launch(stream)?;
            } else {
                softmax::<bf16, 8192, 8>(softmax::Args { x, out }).launch(stream)?;
            }
            Ok(())
        })];
        time(stream, &work, moved(4 * height * width), steps)?;
        let off = rows(&halves(&out)?, &halves(&x)?, width);
        // 8 bits of a result, rounded.
        ensure!(off < 4e-3, "{work}: relative error {off}");
    }
    Ok(())
}

/// Rows and columns of what is transposed.
const SIDE: usize = 16384;

/// Whether one is the other's transpose, as far as samples tell.
fn right<T: Element + PartialEq>(x: &[T], out: &[T]) -> bool {
    (0..SIDE * SIDE).step_by(4093).all(|at| out[at % SIDE * SIDE + at / SIDE] == x[at])
}

/// 16384 by 16384.
fn transpose(stream: &Stream) -> Result<()> {
    use crate::transpose::{transpose, transpose_shared};
    use transpose_conflicts::{chosen, conflicts, direct};
    let shape = [SIDE; 2];
    {
        let host = data::normal(SIDE * SIDE, 1, |x| x);
        let x = stream.upload(&host, shape)?;
        let mut outs = Vec::new();
        for _ in 0..5 {
            outs.push(stream.full(shape, f32::NAN)?);
        }
        {
            let [a, b, c, d, e] = outs.as_mut_slice() else { unreachable!("five of them") };
            let steps = vec![
                own!("direct", direct(direct::Args { x: &x, out: a })),
                own!("conflicts", conflicts(conflicts::Args { x: &x, out: b })),
                own!("chosen layout", chosen(chosen::Args { x: &x, out: c })),
                own!("`transpose`, 8 warps", {
                    transpose::<f32, 128, 8>(transpose::Args { x: &x, out: d })
                }),
                own!("`transpose_shared`, 8 warps", {
                    transpose_shared::<f32, 64, 8>(transpose_shared::Args { x: &x, out: e })
                }),
            ];
            time(stream, "transpose, f32 16384x16384", moved(8 * SIDE * SIDE), steps)?;
        }
        for (at, out) in outs.iter().enumerate() {
            ensure!(right(&host, &out.to_vec(stream)?), "transpose {at} in f32 is wrong");
        }
    }
    let host = data::normal(SIDE * SIDE, 1, f16::from_f32);
    let x = stream.upload(&host, shape)?;
    let mut out = stream.full(shape, f16::NAN)?;
    let steps = vec![own!("`transpose`, 8 warps", {
        transpose::<f16, 128, 8>(transpose::Args { x: &x, out: &mut out })
    })];
    time(stream, "transpose, f16 16384x16384", moved(4 * SIDE * SIDE), steps)?;
    ensure!(right(&host, &out.to_vec(stream)?), "transpose in f16 is wrong");
    Ok(())
}

/// A matrix on the device.
type Matrix<T> = DeviceTensor<T, 2>;

/// Launches one kernel: a, b, c.
type Product<T> = fn(&Stream, &Matrix<T>, &Matrix<T>, &mut Matrix<T>) -> kiln::Result<()>;

macro_rules! product {
    ($kernel:path, $args:path) => {
        |stream, a, b, c| {
            use $args as Args;
            $kernel(Args { a, b, c }).launch(stream)
        }
    };
}

/// The nearest value of a type, and the value.
type Rounding<T> = (fn(f32) -> T, fn(T) -> f64);

/// Products of n³, whose right operand is [n, k]ᵀ for the peer alone, so that both read what is contiguous for them.
fn products<T: benches::cublaslt::Numbers + Element>(
    stream: &Stream,
    (n, kind): (usize, &str),
    (of, value): Rounding<T>,
    kernels: &[(&'static str, Product<T>)],
) -> Result<()> {
    let shape = [n; 2];
    let nan = of(f32::NAN);
    let a = stream.upload(&data::normal(n * n, 1, of), shape)?;
    let host = data::normal(n * n, 2, of);
    let b = stream.upload(&host, shape)?;
    let turned: Vec<T> = (0..n * n).map(|at| host[at % n * n + at / n]).collect();
    let turned = stream.upload(&turned, shape)?;
    let library = CublasLt::new(stream)?;
    let peer = library.product::<T>([n, n, n])?;
    let mut required = stream.full(shape, nan)?;
    let quick =
        Bursts { pause: std::time::Duration::from_millis(5), rounds: 3, ..Bursts::default() };
    let peers = bursts::medians(stream, quick, peer.algorithms(), |at, stream| {
        peer.launch(at, stream, &a, &turned, &mut required)
    })?;
    let best = (0..peers.len()).min_by(|&one, &other| peers[one].total_cmp(&peers[other]));
    let best = best.unwrap_or_default();
    peer.launch(best, stream, &a, &turned, &mut required)?;
    let right = required.to_vec(stream)?;
    let mut outs = Vec::new();
    for (name, launch) in kernels {
        let mut out = stream.full(shape, nan)?;
        launch(stream, &a, &b, &mut out)?;
        let out_host = out.to_vec(stream)?;
        let off = error(out_host.iter().zip(&right).map(|(x, y)| (value(*x), value(*y))));
        // Both round the same sums, in another order, to 8 or to 11 bits.
        ensure!(off < 1e-2, "{name}: relative error {off}");
        outs.push(out);
    }
    let (a, b) = (&a, &b);
    let mut steps: Vec<_> = kernels
        .iter()
        .zip(&mut outs)
        .map(|((name, launch), out)| step(name, move |stream| Ok(launch(stream, a, b, out)?)))
        .collect();
    steps.push(step("cuBLASLt", |stream| peer.launch(best, stream, a, &turned, &mut required)));
    let floor = 1e6 * 2.0 * (n as f64).powi(3) / RATE;
    time(stream, &format!("product, {kind} {n}"), floor, steps)
}

/// 128 heads of 128, 8192 keys and as many queries, in bf16.
fn attention(stream: &Stream) -> Result<()> {
    use flash_attention::{attention, attention_specialized};
    const SHAPE: [usize; 3] = [128, 8192, 128];
    let [heads, sequence, d] = SHAPE;
    let len = heads * sequence * d;
    let hosts = [1, 2, 3].map(|seed| data::normal(len, seed, bf16::from_f32));
    let [q_host, k_host, v_host] = &hosts;
    let (q, k) = (stream.upload(q_host, SHAPE)?, stream.upload(k_host, SHAPE)?);
    let v = stream.upload(v_host, SHAPE)?;
    let root = (d as f64).sqrt().recip();
    #[expect(clippy::cast_possible_truncation, reason = "the kernels take f32")]
    let scale = (root * std::f64::consts::LOG2_E) as f32;
    let mut one = stream.full(SHAPE, bf16::NAN)?;
    let mut other = stream.full(SHAPE, bf16::NAN)?;
    let (q, k, v) = (&q, &k, &v);
    let steps = vec![
        own!("pipelined", {
            attention::<bf16, 64, 64, 128, false>(attention::Args { q, k, v, scale, out: &mut one })
        }),
        own!("warp-specialised", {
            attention_specialized::<128, 2, false>(attention_specialized::Args {
                q,
                k,
                v,
                scale,
                out: &mut other,
            })
        }),
    ];
    let floor = 1e6 * 4.0 * (heads * sequence * d) as f64 * sequence as f64 / RATE;
    time(stream, "attention, bf16 128 heads, 8192 keys", floor, steps)?;
    for out in [&one, &other] {
        let out = out.to_vec(stream)?;
        let off = error((0..16).flat_map(|i| {
            let row = i * 65537 % (heads * sequence);
            let keys = row / sequence * sequence * d..(row / sequence + 1) * sequence * d;
            let own = row * d..(row + 1) * d;
            let dot = |key: &[bf16]| {
                let pairs = key.iter().zip(&q_host[own.clone()]);
                pairs.map(|(a, b)| a.to_f64() * b.to_f64()).sum::<f64>() * root
            };
            let scores: Vec<f64> = k_host[keys.clone()].chunks(d).map(dot).collect();
            let top = scores.iter().copied().fold(f64::MIN, f64::max);
            let weights: Vec<f64> = scores.iter().map(|score| (score - top).exp()).collect();
            let total: f64 = weights.iter().sum();
            let mut sums = vec![0.0; d];
            for (weight, value) in weights.iter().zip(v_host[keys].chunks(d)) {
                let each = sums.iter_mut().zip(value);
                each.for_each(|(sum, value)| *sum += weight * value.to_f64() / total);
            }
            out[own].iter().zip(sums).map(|(x, y)| (x.to_f64(), y)).collect::<Vec<_>>()
        }));
        ensure!(off < 1e-2, "attention: relative error {off}");
    }
    Ok(())
}

fn main() -> Result<()> {
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    println!("on {device}");
    println!("| work | step | us | share of the floor |\n|---|---|---|---|");
    vector_add(&stream)?;
    softmax(&stream)?;
    transpose(&stream)?;
    products::<f16>(
        &stream,
        (4096, "f16"),
        (f16::from_f32, f16::to_f64),
        &[
            (
                "copies, then `mma.sync`",
                product!(
                    matmul_async_copy::matmul::<128, 128, 32, 4>,
                    matmul_async_copy::matmul::Args
                ),
            ),
            ("`by_threads`", product!(product_wgmma::by_threads, product_wgmma::by_threads::Args)),
            (
                "`pipeline`, `mma.sync`",
                product!(
                    matmul_pipelined::matmul::<128, 128, 32, 4, 4>,
                    matmul_pipelined::matmul::Args
                ),
            ),
            ("`by_maps`", product!(product_wgmma::by_maps, product_wgmma::by_maps::Args)),
            ("`by_hand`", product!(product_wgmma::by_hand, product_wgmma::by_hand::Args)),
            (
                "TMA and `wgmma`",
                product!(matmul_wgmma::matmul::<f16, true, false, 4>, matmul_wgmma::matmul::Args),
            ),
        ],
    )?;
    for n in [4096, 8192] {
        products::<bf16>(&stream, (n, "bf16"), (bf16::from_f32, bf16::to_f64), &bf16_steps())?;
    }
    attention(&stream)
}

/// The products of the path in bf16.
fn bf16_steps() -> Vec<(&'static str, Product<bf16>)> {
    use matmul_persistent::gemm::matmul as persistent;
    use matmul_warp_specialized::gemm::matmul as with_roles;
    vec![
        (
            "TMA and `wgmma`",
            product!(matmul_wgmma::matmul::<bf16, true, false, 4>, matmul_wgmma::matmul::Args),
        ),
        ("`specialized`", product!(specialized::matmul::<4>, specialized::matmul::Args)),
        ("`clusters`", product!(clusters::matmul::<4>, clusters::matmul::Args)),
        (
            "warp-specialised",
            product!(with_roles::<bf16, bf16, 256, 64, 3, true, false>, with_roles::Args),
        ),
        (
            "`Persistent<Linear>`",
            product!(persistent::<Persistent<Linear>, 1, 256, 3>, persistent::Args),
        ),
        (
            "`Persistent<Grouped<16>>`",
            product!(persistent::<Persistent<Grouped<16>>, 1, 256, 3>, persistent::Args),
        ),
        (
            "`Clustered<Linear>`",
            product!(persistent::<Clustered<Linear>, 2, 256, 3>, persistent::Args),
        ),
        (
            "`Clustered<Grouped<8>>`",
            product!(persistent::<Clustered<Grouped<8>>, 2, 256, 3>, persistent::Args),
        ),
    ]
}
