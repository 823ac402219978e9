//! out = softmax(q · kᵀ · scale) · v: the scores never leave the registers.
//!
//! `cargo run --release --example flash_attention [-- HEADS SEQUENCE]`
//!
//! Forward, heads of 64 and 128, causal and not, in two kernels: the compiler pipelines the copies of `attention`;
//! `attention_specialized`, for Hopper alone, has its own warp for copies and keeps two products in flight. Every instance is checked
//! against attention computed on the host, and timed on a GPU.

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "an example prints, measures in f64, and reads like the library code that it stands for"
)]

use kiln::{Ring, prelude::*};

#[path = "support/norm.rs"]
mod norm;
#[path = "support/report.rs"]
mod report;

/// One block computes `BM` rows of one head. The loop prefetches the keys and values of the next iteration with TMA, while warpgroups
/// multiply those of this one, and waits for both by itself.
///
/// All four tensors are heads × sequence × `D`; `scale` includes log2(e).
#[kernel(target = [sm_90a, sm_100f, sm_120a], warps = 4, grid = [cdiv(q.dim(1), BM), q.dim(0)],
         instances(T = [f16, bf16], BM = [64, 128], BN = [64], D = [64, 128], CAUSAL = [false, true]))]
pub fn attention<T: Float, const BM: i32, const BN: i32, const D: i32, const CAUSAL: bool>(
    #[block(1, BM, D)] q: TensorMap<T, 3>,
    #[block(1, BN, D)] k: TensorMap<T, 3>,
    #[block(1, BN, D)] v: TensorMap<T, 3>,
    scale: f32,
    out: TensorMut<T, 3>,
) {
    let (start, head) = (block_id(0) * BM, block_id(1));
    let qs = shared::<T>([BM, D]);
    let ready = barrier(1);
    ready.expect(q.block_bytes());
    tma::load(q, [head, start, 0], ready, qs);
    ready.wait(0);

    let mut top = full::<f32>([BM], f32::MIN);
    let mut total = zeros::<f32>([BM]);
    let mut acc = zeros::<f32>([BM, D]);
    // Without keys, the zeros past the end count as one: the result is 0.
    let keys = k.dim(1).max(1);
    let end = if CAUSAL { (start + BM).min(keys) } else { keys };
    let (ks, vs) = (shared::<T>([BN, D]), shared::<T>([BN, D]));
    for at in pipeline(range(0, end, BN), 2) {
        copy_async(k.at([head, at, 0]), ks);
        copy_async(v.at([head, at, 0]), vs);
        let mut s = dot(qs, ks.t(), zeros::<f32>([BM, BN])) * scale;
        let cols = at + arange(0, BN).expand(0);
        if CAUSAL {
            let rows = start + arange(0, BM).expand(1);
            s = select(cols.le(rows), s, f32::MIN);
        }
        s = select(cols.lt(keys), s, f32::MIN);

        let new_top = maximum(top, s.max(1));
        let shrink = (top - new_top).exp2_approx();
        let p = (s - new_top.expand(1)).exp2_approx();
        total = total * shrink + p.sum(1);
        acc = dot(p.cast::<T>(), vs, acc * shrink.expand(1));
        top = new_top;
    }
    let result = (acc / total.expand(1)).cast::<T>();
    out.tile([head, start, 0], [1, BM, D]).store(result.reshape([1, BM, D]));
}

// ANCHOR: specialized
/// One block computes 128 rows of one head: a warp copies keys and values, two warpgroups hold 64 queries each, and start the scores
/// of the next 128 keys before they look at those of these.
///
/// All tensors are heads × sequence × `D`; `scale` is positive and includes log2(e).
#[kernel(target = sm_90a, warps = 8, grid = [cdiv(q.dim(1), 128), q.dim(0)],
         instances((D, STAGES) = [(64, 2), (128, 2)], CAUSAL = [false, true]))]
pub fn attention_specialized<const D: i32, const STAGES: i32, const CAUSAL: bool>(
    #[block(1, 128, D)] q: TensorMap<bf16, 3>,
    #[block(1, 128, D)] k: TensorMap<bf16, 3>,
    #[block(1, 128, D)] v: TensorMap<bf16, 3>,
    scale: f32,
    #[block(1, 128, D)] out: TensorMapMut<bf16, 3>,
) {
    let head = block_id(1);
    // The last queries see most keys: of causal attention they come first.
    let block = if CAUSAL { num_blocks(0) - 1 - block_id(0) } else { block_id(0) };
    // Without keys, the zeros past the end count as one: the result is 0.
    let (start, keys) = (128 * block, k.dim(1).max(1));
    let iterations = if CAUSAL { (block + 1).min(cdiv(keys, 128)) } else { cdiv(keys, 128) };
    let qs = shared::<bf16>([128, D]);
    let (ks, vs) = (shared::<bf16>([STAGES, 128, D]), shared::<bf16>([STAGES, 128, D]));
    let (k_filled, k_free) = (barriers(STAGES, 1), barriers(STAGES, 1));
    let (v_filled, v_free) = (barriers(STAGES, 1), barriers(STAGES, 1));
    let begun = barrier(1);
    warp_specialize(
        || {
            begun.wait(0);
            k_filled[0].wait(0);
            let s = wgmma::mma(qs, ks[0].t(), zeros::<f32>([128, 128]));
            let s = wgmma::wait(0, s);
            k_free[0].arrive();
            // From the last keys to the first: these alone may be past the end, or behind the queries.
            let columns = 128 * (iterations - 1) + arange(0, 128).expand(0);
            let seen = columns.lt(keys).broadcast([128, 128]);
            let rows = start + arange(0, 128).expand(1);
            let seen = if CAUSAL { seen & columns.le(rows) } else { seen };
            let s = select(seen, s, f32::MIN);
            let mut top = s.max(1);
            let weights = fma(s, scale, (top * -scale).expand(1)).exp2_approx();
            let mut total = weights.sum(1);
            let mut p = weights.cast::<bf16>();
            let mut acc = zeros::<f32>([128, D]);
            // Where the next keys are, and the values of those before them.
            let (mut next, mut last) = (Ring::reader(STAGES), Ring::reader(STAGES));
            next.advance();
            if iterations > 1 {
                k_filled[next.slot].wait(next.phase);
            }
            for iteration in 1..iterations {
                let s = wgmma::mma(qs, ks[next.slot].t(), zeros::<f32>([128, 128]));
                v_filled[last.slot].wait(last.phase);
                acc = wgmma::mma(p, vs[last.slot], acc);
                let s = wgmma::wait(1, s);
                k_free[next.slot].arrive();
                let new_top = maximum(top, s.max(1));
                let weights = fma(s, scale, (new_top * -scale).expand(1)).exp2_approx();
                let shrink = ((top - new_top) * scale).exp2_approx();
                total = total * shrink + weights.sum(1);
                top = new_top;
                next.advance();
                // Between the weights and the wait for the sums: what is computed in front of a wait in turns stays there, and runs
                // while the tensor cores do.
                if iteration + 1 < iterations {
                    k_filled[next.slot].wait(next.phase);
                }
                acc = wgmma::wait(0, acc);
                v_free[last.slot].arrive();
                acc = acc * shrink.expand(1);
                p = weights.cast::<bf16>();
                last.advance();
            }
            v_filled[last.slot].wait(last.phase);
            acc = wgmma::mma(p, vs[last.slot], acc);
            acc = wgmma::wait(0, acc);
            let result = (acc * (1.0 / total).expand(1)).cast::<bf16>();
            sync(); // both groups have read their queries: the result takes their place
            qs.store(result);
            fence_async();
            tma::store(out, [head, start, 0], qs);
            tma::store_wait(0);
        },
        [partition(1).registers(40).run(|| {
            begun.expect(q.block_bytes());
            tma::load(q, [head, start, 0], begun, qs);
            let mut ring = Ring::writer(STAGES);
            for iteration in 0..iterations {
                let at = 128 * (iterations - 1 - iteration);
                k_free[ring.slot].wait(ring.phase);
                k_filled[ring.slot].expect(k.block_bytes());
                tma::load(k, [head, at, 0], k_filled[ring.slot], ks[ring.slot]);
                v_free[ring.slot].wait(ring.phase);
                v_filled[ring.slot].expect(v.block_bytes());
                tma::load(v, [head, at, 0], v_filled[ring.slot], vs[ring.slot]);
                ring.advance();
            }
        })],
    );
}
// ANCHOR_END: specialized

/// The arguments of both kernels.
struct Heads<'a, T> {
    q: &'a DeviceTensor<T, 3>,
    k: &'a DeviceTensor<T, 3>,
    v: &'a DeviceTensor<T, 3>,
    scale: f32,
    out: &'a mut DeviceTensor<T, 3>,
}

/// An instance of one of the kernels.
struct Instance<T> {
    name: &'static str,
    d: usize,
    causal: bool,
    make: for<'a> fn(Heads<'a, T>) -> Launch<'a>,
}

macro_rules! pipelined {
    ($name:literal: $($t:ty, $bm:literal, $d:literal, $causal:literal);*) => { [$(Instance {
        name: $name,
        d: $d,
        causal: $causal,
        make: |Heads { q, k, v, scale, out }| {
            attention::<$t, $bm, 64, $d, $causal>(attention::Args { q, k, v, scale, out })
        },
    }),*] };
}

macro_rules! specialized {
    ($name:literal: $($d:literal, $causal:literal);*) => { [$(Instance {
        name: $name,
        d: $d,
        causal: $causal,
        make: |Heads { q, k, v, scale, out }| {
            let args = attention_specialized::Args { q, k, v, scale, out };
            attention_specialized::<$d, 2, $causal>(args)
        },
    }),*] };
}

/// Attention in f64 of one row.
fn reference<T: Copy + Into<f64>>(q: &[T], k: &[T], v: &[T], d: usize, scale: f64) -> Vec<f64> {
    let product = |(&a, &b): (&T, &T)| a.into() * b.into();
    let scores: Vec<f64> =
        k.chunks(d).map(|key| key.iter().zip(q).map(product).sum::<f64>() * scale).collect();
    let top = scores.iter().copied().fold(f64::MIN, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (score - top).exp()).collect();
    let total: f64 = weights.iter().sum();
    (0..d)
        .map(|column| {
            let values = v.chunks(d).map(|value| value[column].into());
            let sum: f64 = weights.iter().zip(values).map(|(w, value)| w * value).sum();
            sum / total
        })
        .collect()
}

/// Where instances run, and their report.
struct Bench<'a> {
    stream: &'a Stream,
    heads: usize,
    sequence: usize,
    table: report::Table,
}

impl Bench<'_> {
    /// Runs instances of one head size, checks each against the reference to within `tolerance`, and times it.
    fn run<T: Element + Into<f64>>(
        &mut self,
        instances: &[Instance<T>],
        of: fn(f32) -> T,
        not_a_number: T,
        tolerance: f64,
    ) -> Result<()> {
        let (heads, sequence, stream) = (self.heads, self.sequence, self.stream);
        for d in [64, 128] {
            let shape = [heads, sequence, d];
            let values = |seed| -> Vec<T> {
                let random = report::random(heads * sequence * d, seed);
                random.into_iter().map(|x| of(4.0 * x)).collect()
            };
            let (q_host, k_host, v_host) = (values(1), values(2), values(3));
            let q = stream.upload(&q_host, shape)?;
            let (k, v) = (stream.upload(&k_host, shape)?, stream.upload(&v_host, shape)?);
            let root = (d as f64).sqrt().recip();
            #[expect(clippy::cast_possible_truncation, reason = "the kernels take f32")]
            let scale = (root * std::f64::consts::LOG2_E) as f32;
            for one in instances.iter().filter(|one| one.d == d) {
                let mut out = stream.full(shape, not_a_number)?;
                let none = stream.upload(&[], [heads, 0, d])?;
                let over_none = Heads { q: &q, k: &none, v: &none, scale, out: &mut out };
                (one.make)(over_none).launch(stream)?;
                assert!(
                    out.to_vec(stream)?.into_iter().all(|result| result.into() == 0.0),
                    "{}: attention over no keys is not 0",
                    one.name
                );
                let mut launch = || {
                    let heads = Heads { q: &q, k: &k, v: &v, scale, out: &mut out };
                    (one.make)(heads).launch(stream)
                };
                launch()?;
                let ms = report::median_ms(stream, launch)?;
                let actual = out.to_vec(stream)?;
                let rows = heads * sequence;
                let error = norm::relative_error((0..rows.min(64)).flat_map(|i| {
                    let row = i * 7919 % rows;
                    let (head, query) = (row / sequence, row % sequence);
                    let seen = if one.causal { query + 1 } else { sequence };
                    let keys = head * sequence * d..(head * sequence + seen) * d;
                    let own = row * d..(row + 1) * d;
                    let (own_q, keys_k) = (&q_host[own.clone()], &k_host[keys.clone()]);
                    let required = reference(own_q, keys_k, &v_host[keys], d, root);
                    required.into_iter().zip(actual[own].iter().map(|&actual| actual.into()))
                }));
                let pairs = (sequence * sequence) as f64 / if one.causal { 2.0 } else { 1.0 };
                let flops = 4.0 * heads as f64 * pairs * d as f64;
                let causal = if one.causal { ", causal" } else { "" };
                let name = format!("{}, head {d}{causal}", one.name);
                self.table.row(&[&heads, &sequence, &name], error, ms, flops * 1e-3);
                assert!(
                    error < tolerance,
                    "{name} at {heads} heads of {sequence}: relative error {error}"
                );
            }
        }
        Ok(())
    }
}

fn main() -> Result<()> {
    // Hopper runs both kernels. Other GPUs, Blackwell workstation cards among them, run `attention`.
    let device = match Device::best_for(attention_specialized::TARGETS) {
        Ok(device) if !device.is_emulator() || Device::cuda_count().unwrap_or(0) == 0 => device,
        _ => Device::best_for(attention::TARGETS)?,
    };
    let both = attention_specialized::TARGETS.iter().any(|target| device.runs(*target));
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<2>() {
        Some(given) => vec![given],
        None if device.is_emulator() => vec![[2, 200]],
        None => vec![[64, 4096], [128, 8192], [3, 1000]],
    };
    let columns = ["heads", "sequence", "instance", "rel. error", "ms", "TFLOP/s"];
    let mut bench =
        Bench { stream: &stream, heads: 0, sequence: 0, table: report::Table::new(&columns) };
    let progress = report::progress(3 * sizes.len(), "flash_attention");
    for [heads, sequence] in sizes {
        (bench.heads, bench.sequence) = (heads, sequence);
        // Weights and results are rounded to 11 and to 8 bits.
        let f16s = pipelined!("pipelined, f16":
            f16, 64, 64, false; f16, 128, 64, true; f16, 128, 128, false; f16, 64, 128, true);
        bench.run(&f16s, f16::from_f32, f16::NAN, 1.5e-3)?;
        progress.inc(1);
        let bf16s = pipelined!("pipelined, bf16":
            bf16, 128, 64, false; bf16, 64, 64, true; bf16, 64, 128, false; bf16, 128, 128, true);
        bench.run(&bf16s, bf16::from_f32, bf16::NAN, 1e-2)?;
        progress.inc(1);
        if both {
            let specialized =
                specialized!("specialized, bf16": 64, false; 64, true; 128, false; 128, true);
            bench.run(&specialized, bf16::from_f32, bf16::NAN, 1e-2)?;
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    bench.table.print();
    Ok(())
}
