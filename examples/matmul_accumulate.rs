//! d = a · b + c on Hopper: factors in f16, c and d in f32, by specialised warps.
//!
//! `cargo run --release --example matmul_accumulate [-- M N K]`
//!
//! The accumulator begins as c, so that nothing is added afterwards.

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "an example prints, measures in f64, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

#[path = "support/report.rs"]
mod report;

/// One block computes a tile of 128 × `BN`.
#[kernel(target = sm_90a, warps = 8, grid = [cdiv(d.dim(0), 128), cdiv(d.dim(1), BN)],
         instances((BN, STAGES) = [(128, 4), (64, 4)]))]
pub fn accumulate<const BN: i32, const STAGES: i32>(
    #[block(128, 64)] a: TensorMap<f16, 2>,
    #[block(64, BN)] b: TensorMap<f16, 2>,
    #[block(128, BN)] c: TensorMap<f32, 2>,
    #[block(128, BN)] d: TensorMapMut<f32, 2>,
) {
    let (m, n) = (block_id(0) * 128, block_id(1) * BN);
    let (sa, sb) = (shared::<f16>([STAGES, 128, 64]), shared::<f16>([STAGES, 64, BN]));
    let sums = shared::<f32>([128, BN]);
    let (full, empty) = (barriers(STAGES, 1), barriers(STAGES, 1));
    let begun = barrier(1);
    let depth = a.dim(1);
    warp_specialize(
        || {
            begun.wait(0);
            let mut acc = sums.load();
            let (mut slot, mut phase) = (0, 0);
            for _ in range(0, depth, 64) {
                full[slot].wait(phase);
                acc = wgmma::mma(sa[slot], sb[slot], acc);
                acc = wgmma::wait(0, acc);
                empty[slot].arrive();
                slot += 1;
                if slot == STAGES {
                    slot = 0;
                    phase ^= 1;
                }
            }
            sync(); // every warp has read its part of c
            sums.store(acc);
            fence_async();
            tma::store(d, [m, n], sums);
            tma::store_wait(0);
        },
        [partition(1).registers(40).run(|| {
            begun.expect(c.block_bytes());
            tma::load(c, [m, n], begun, sums);
            let (mut slot, mut phase) = (0, 1);
            for k in range(0, depth, 64) {
                empty[slot].wait(phase);
                full[slot].expect(a.block_bytes() + b.block_bytes());
                tma::load(a, [m, k], full[slot], sa[slot]);
                tma::load(b, [k, n], full[slot], sb[slot]);
                slot += 1;
                if slot == STAGES {
                    slot = 0;
                    phase ^= 1;
                }
            }
        })],
    );
}

type Make = for<'a> fn(accumulate::Args<'a>) -> Launch<'a>;

fn main() -> Result<()> {
    let device = Device::best_for(accumulate::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<3>() {
        Some([m, n, k]) => vec![[m, n, k]],
        None if device.is_emulator() => vec![[200, 136, 152]],
        None => vec![[4096, 4096, 4096], [1000, 1096, 520]],
    };
    let instances: [(&str, Make); 2] =
        [("128x128, 4 stages", accumulate::<128, 4>), ("128x64, 4 stages", accumulate::<64, 4>)];
    let mut table = report::Table::new(&["m", "n", "k", "instance", "rel. error", "ms", "TFLOP/s"]);
    let progress = report::progress(instances.len() * sizes.len(), "matmul_accumulate");
    for [m, n, k] in sizes {
        let halves = |len, seed| -> Vec<f16> {
            report::random(len, seed).into_iter().map(f16::from_f32).collect()
        };
        let (a_host, b_host) = (halves(m * k, 1), halves(k * n, 2));
        let c_host = report::random(m * n, 3);
        let (a, b) = (stream.upload(&a_host, [m, k])?, stream.upload(&b_host, [k, n])?);
        let c = stream.upload(&c_host, [m, n])?;
        for (name, make) in &instances {
            let mut d = stream.full([m, n], f32::NAN)?;
            make(accumulate::Args { a: &a, b: &b, c: &c, d: &mut d }).launch(&stream)?;
            let actual = d.to_vec(&stream)?;
            // All of a small product, some elements of a large one.
            let count = (m * n).min(4096);
            let (mut difference, mut norm) = (0.0, 0.0);
            for i in 0..count {
                let at = if count == m * n { i } else { i * 104_729 % (m * n) };
                let (row, column) = (at / n, at % n);
                let product: f64 = (0..k)
                    .map(|i| a_host[row * k + i].to_f64() * b_host[i * n + column].to_f64())
                    .sum();
                let required = product + f64::from(c_host[at]);
                difference += (f64::from(actual[at]) - required).powi(2);
                norm += required.powi(2);
            }
            let error = (difference / norm).sqrt();
            let ms = report::median_ms(&stream, || {
                make(accumulate::Args { a: &a, b: &b, c: &c, d: &mut d }).launch(&stream)
            })?;
            table.row(&[&m, &n, &k, name], error, ms, 2e-3 * m as f64 * n as f64 * k as f64);
            // Products are exact; each of k sums rounds to 24 bits, which add up like a random walk.
            let bound = 2f64.powi(-24) * (k as f64).sqrt() * 8.0;
            assert!(error < bound, "{name} at {m}x{n}x{k}: relative error {error}");
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    table.print();
    Ok(())
}
