//! d = a · b + c on Hopper: operands in f16, c and d in f32, with specialised warps.
//!
//! `cargo run --release --example matmul_accumulate [-- M N K | --large]`
//!
//! The accumulator starts as c, so nothing is added afterwards.

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "an example prints, measures in f64, and reads like the library code that it stands for"
)]

use kiln::Ring;
use kiln::prelude::*;

#[path = "support/normal.rs"]
mod normal;
#[path = "support/reference.rs"]
mod reference;
#[path = "support/report.rs"]
mod report;

use reference::Reference;

/// One block computes a tile of 128 × `BN`: two warpgroups multiply, a warp beside them loads.
#[kernel(target = sm_90a, warps = 8, grid = [cdiv(d.dim(0), 128), cdiv(d.dim(1), BN)],
         instances((BN, STAGES) = [(128, 4), (64, 4)]))]
pub fn accumulate<const BN: i32, const STAGES: i32>(
    #[block(128, 64)] a: TensorMap<f16, 2>,
    #[block(64, BN)] b: TensorMap<f16, 2>,
    #[block(128, BN)] c: TensorMap<f32, 2>,
    #[block(128, BN)] d: TensorMapMut<f32, 2>,
) {
    let (m, n) = (block_id(0) * 128, block_id(1) * BN);
    let (a_bufs, b_bufs) = (shared::<f16>([STAGES, 128, 64]), shared::<f16>([STAGES, 64, BN]));
    let (full, empty) = (barriers(STAGES, 1), barriers(STAGES, 1));
    // The tile of c, and later that of d.
    let sums = shared::<f32>([128, BN]);
    let c_arrived = barrier(1);
    let depth = a.dim(1);
    let multiply = || {
        c_arrived.wait(0);
        let mut acc = sums.load();
        let mut ring = Ring::reader(STAGES);
        for _ in range(0, depth, 64) {
            full[ring.slot].wait(ring.phase);
            acc = wgmma::mma(a_bufs[ring.slot], b_bufs[ring.slot], acc);
            acc = wgmma::wait(0, acc);
            empty[ring.slot].arrive();
            ring.advance();
        }
        sync(); // every warp has read its part of c
        sums.store(acc);
        fence_async();
        tma::store(d, [m, n], sums);
        tma::store_wait(0);
    };
    let load = || {
        c_arrived.expect(c.block_bytes());
        tma::load(c, [m, n], c_arrived, sums);
        let mut ring = Ring::writer(STAGES);
        for k in range(0, depth, 64) {
            empty[ring.slot].wait(ring.phase);
            full[ring.slot].expect(a.block_bytes() + b.block_bytes());
            tma::load(a, [m, k], full[ring.slot], a_bufs[ring.slot]);
            tma::load(b, [k, n], full[ring.slot], b_bufs[ring.slot]);
            ring.advance();
        }
    };
    warp_specialize(multiply, [partition(1).registers(40).run(load)]);
}

fn main() -> Result<()> {
    let device = Device::best_for(accumulate::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<3>() {
        Some([m, n, k]) => vec![[m, n, k]],
        None if device.is_emulator() => vec![[200, 136, 152]],
        None => vec![[4096, 4096, 4096], [1000, 1096, 520]],
    };
    let mut table = report::Table::new(&["m", "n", "k", "instance", "rel. error", "ms", "TFLOP/s"]);
    let progress = report::progress(accumulate::INSTANCES.len() * sizes.len(), "matmul_accumulate");
    for [m, n, k] in sizes {
        let halves = |len, seed| -> Vec<f16> {
            normal::numbers(len, seed).into_iter().map(f16::from_f32).collect()
        };
        let (a_host, b_host) = (halves(m * k, 1), halves(k * n, 2));
        let c_host = normal::numbers(m * n, 3);
        let (a, b) = (stream.upload(&a_host, [m, k])?, stream.upload(&b_host, [k, n])?);
        let c = stream.upload(&c_host, [m, n])?;
        let floats = |host: &[f16]| -> Vec<f32> { host.iter().map(|x| x.to_f32()).collect() };
        let c_at = |row: usize, column: usize| f64::from(c_host[row * n + column]);
        let reference = Reference::of(&floats(&a_host), &floats(&b_host), c_at, [m, n, k]);
        for instance in accumulate::instances() {
            let name = format!("128x{}, {} stages", instance.BN, instance.STAGES);
            let mut d = stream.full([m, n], f32::NAN)?;
            let args = accumulate::Args { a: &a, b: &b, c: &c, d: &mut d };
            instance.with(args).launch(&stream)?;
            let actual = d.to_vec(&stream)?;
            let name_and_size = format!("{name} at {m}x{n}x{k}");
            let range = |_, _, required: f64| {
                let off = normal::rounding(k, required);
                [required - off, required + off]
            };
            let error = reference
                .compare(&name_and_size, range, |row, column| f64::from(actual[row * n + column]));
            let ms = report::median_ms(&stream, || {
                let args = accumulate::Args { a: &a, b: &b, c: &c, d: &mut d };
                instance.with(args).launch(&stream)
            })?;
            table.row(&[&m, &n, &k, &name], error, ms, 2e-3 * m as f64 * n as f64 * k as f64);
            // Products are exact; each of k sums rounds to 24 bits, which add up like a random walk.
            let bound = 2f64.powi(-24) * (k as f64).sqrt() * 8.0;
            assert!(error < bound, "{name_and_size}: relative error {error}");
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    table.print();
    Ok(())
}
