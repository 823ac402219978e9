//! out = softmax(q · kᵀ · scale) · v on Hopper: the scores never leave the registers.
//!
//! `cargo run --release --example flash_attention [-- HEADS SEQUENCE]`
//!
//! Forward, in bf16, heads of 64 and 128, causal and not. Every instance is checked against attention computed on the host, and
//! on a GPU timed.

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "an example prints, measures in f64, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

#[path = "support/report.rs"]
mod report;

/// One block computes 128 rows of one head: a warp copies keys and values, two warpgroups hold 64 queries each.
///
/// All tensors are heads × sequence × `D`; `scale` includes log2(e).
#[kernel(target = sm_90a, warps = 8, grid = [cdiv(q.dim(1), 128), q.dim(0)],
         instances((D, BN, STAGES) = [(64, 128, 2), (128, 128, 2)], CAUSAL = [false, true]))]
pub fn attention<const D: i32, const BN: i32, const STAGES: i32, const CAUSAL: bool>(
    #[block(1, 128, D)] q: TensorMap<bf16, 3>,
    #[block(1, BN, D)] k: TensorMap<bf16, 3>,
    #[block(1, BN, D)] v: TensorMap<bf16, 3>,
    scale: f32,
    #[block(1, 128, D)] out: TensorMapMut<bf16, 3>,
) {
    let (start, head) = (block_id(0) * 128, block_id(1));
    let keys = k.dim(1);
    // Of causal attention, no query sees what comes behind the block's last one.
    let end = if CAUSAL { (start + 128).min(keys) } else { keys };
    let qs = shared::<bf16>([128, D]);
    let (ks, vs) = (shared::<bf16>([STAGES, BN, D]), shared::<bf16>([STAGES, BN, D]));
    let (filled, free) = (barriers(STAGES, 1), barriers(STAGES, 1));
    let begun = barrier(1);
    warp_specialize(
        || {
            let mut top = full::<f32>([128], f32::MIN);
            let mut total = zeros::<f32>([128]);
            let mut acc = zeros::<f32>([128, D]);
            let (mut slot, mut phase) = (0, 0);
            begun.wait(0);
            for at in range(0, end, BN) {
                filled[slot].wait(phase);
                let s = wgmma::mma(qs, ks[slot].t(), zeros::<f32>([128, BN]));
                let s = wgmma::wait(0, s) * scale;
                let columns = at + arange(0, BN).expand(0);
                let rows = start + arange(0, 128).expand(1);
                let seen = columns.lt(keys).broadcast([128, BN]);
                let seen = if CAUSAL { seen & columns.le(rows) } else { seen };
                let s = select(seen, s, f32::MIN);
                let new_top = maximum(top, s.max(1));
                let shrink = (top - new_top).exp2();
                let p = (s - new_top.expand(1)).exp2();
                total = total * shrink + p.sum(1);
                acc = wgmma::mma(p.cast::<bf16>(), vs[slot], acc * shrink.expand(1));
                acc = wgmma::wait(0, acc);
                free[slot].arrive();
                top = new_top;
                slot += 1;
                if slot == STAGES {
                    slot = 0;
                    phase ^= 1;
                }
            }
            let result = (acc / total.expand(1)).cast::<bf16>();
            sync(); // both groups have read their queries: the result takes their place
            qs.store(result);
            fence_async();
            tma::store(out, [head, start, 0], qs);
            tma::store_wait(0);
        },
        [partition(1).registers(40).run(|| {
            begun.expect(q.block_bytes());
            tma::load(q, [head, start, 0], begun, qs);
            let (mut slot, mut phase) = (0, 1);
            for at in range(0, end, BN) {
                free[slot].wait(phase);
                filled[slot].expect(k.block_bytes() + v.block_bytes());
                tma::load(k, [head, at, 0], filled[slot], ks[slot]);
                tma::load(v, [head, at, 0], filled[slot], vs[slot]);
                slot += 1;
                if slot == STAGES {
                    slot = 0;
                    phase ^= 1;
                }
            }
        })],
    );
}

type Make = for<'a> fn(attention::Args<'a>) -> Launch<'a>;

/// Attention in f64 of one row.
fn reference(q: &[bf16], k: &[bf16], v: &[bf16], d: usize, scale: f64) -> Vec<f64> {
    let scores: Vec<f64> = k
        .chunks(d)
        .map(|key| key.iter().zip(q).map(|(a, b)| a.to_f64() * b.to_f64()).sum::<f64>() * scale)
        .collect();
    let top = scores.iter().copied().fold(f64::MIN, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (score - top).exp()).collect();
    let total: f64 = weights.iter().sum();
    (0..d)
        .map(|column| {
            let sum: f64 =
                weights.iter().zip(v.chunks(d)).map(|(w, value)| w * value[column].to_f64()).sum();
            sum / total
        })
        .collect()
}

fn main() -> Result<()> {
    let device = Device::best_for(attention::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<2>() {
        Some(given) => vec![given],
        None if device.is_emulator() => vec![[2, 200]],
        None => vec![[64, 4096], [128, 8192], [3, 1000]],
    };
    let instances: [(&str, usize, bool, Make); 4] = [
        ("head 64", 64, false, attention::<64, 128, 2, false>),
        ("head 64, causal", 64, true, attention::<64, 128, 2, true>),
        ("head 128", 128, false, attention::<128, 128, 2, false>),
        ("head 128, causal", 128, true, attention::<128, 128, 2, true>),
    ];
    let heads_of = ["heads", "sequence", "instance", "rel. error", "ms", "TFLOP/s"];
    let mut table = report::Table::new(&heads_of);
    let progress = report::progress(instances.len() * sizes.len(), "flash_attention");
    for [heads, sequence] in sizes {
        for (name, d, causal, make) in &instances {
            let (d, length) = (*d, heads * sequence * *d);
            let values = |seed| -> Vec<bf16> {
                report::random(length, seed).into_iter().map(|x| bf16::from_f32(4.0 * x)).collect()
            };
            let (q_host, k_host, v_host) = (values(1), values(2), values(3));
            let shape = [heads, sequence, d];
            let q = stream.upload(&q_host, shape)?;
            let (k, v) = (stream.upload(&k_host, shape)?, stream.upload(&v_host, shape)?);
            let mut out = stream.full(shape, bf16::NAN)?;
            let root = (d as f64).sqrt().recip();
            #[expect(clippy::cast_possible_truncation, reason = "the kernel takes f32")]
            let scale = (root * std::f64::consts::LOG2_E) as f32;
            let mut launch = || {
                make(attention::Args { q: &q, k: &k, v: &v, scale, out: &mut out }).launch(&stream)
            };
            launch()?;
            let ms = report::median_ms(&stream, launch)?;
            let actual = out.to_vec(&stream)?;
            let (mut difference, mut norm) = (0.0, 0.0);
            let rows = heads * sequence;
            for i in 0..rows.min(64) {
                let row = i * 7919 % rows;
                let (head, query) = (row / sequence, row % sequence);
                let seen = if *causal { query + 1 } else { sequence };
                let keys = head * sequence * d..(head * sequence + seen) * d;
                let own = row * d..(row + 1) * d;
                let required =
                    reference(&q_host[own.clone()], &k_host[keys.clone()], &v_host[keys], d, root);
                for (actual, required) in actual[own].iter().zip(required) {
                    difference += (actual.to_f64() - required).powi(2);
                    norm += required.powi(2);
                }
            }
            let error = (difference / norm).sqrt();
            let pairs = (sequence * sequence) as f64 / if *causal { 2.0 } else { 1.0 };
            let flops = 4.0 * heads as f64 * pairs * d as f64;
            table.row(&[&heads, &sequence, name], error, ms, flops * 1e-3);
            // Weights and results are rounded to 8 bits.
            assert!(error < 1e-2, "{name} at {heads} heads of {sequence}: relative error {error}");
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    table.print();
    Ok(())
}
