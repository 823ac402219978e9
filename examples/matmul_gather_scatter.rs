//! out[scatter[i], :] = x[gather[i], :] · w on Hopper: rows are gathered while the product runs, and scattered as soon as they are done.
//!
//! `cargo run --release --example matmul_gather_scatter [-- ROWS N K | --large]`

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

/// One block computes 128 rows of the list and `BN` columns: four warps gather rows of `x`, TMA brings `w`, two warpgroups
/// multiply.
#[kernel(target = sm_90a, warps = 8, grid = [cdiv(gather.dim(0), 128), cdiv(w.dim(1), BN)],
         instances((BN, STAGES) = [(128, 4), (256, 3)]))]
pub fn fused<const BN: i32, const STAGES: i32>(
    #[multiple_of(16)] x: Ptr<bf16>,
    gather: Tensor<i32, 1>,
    #[block(64, BN)] w: TensorMap<bf16, 2>,
    scatter: Tensor<i32, 1>,
    #[multiple_of(16)] out: Ptr<bf16>,
    #[multiple_of(8)] depth: i32,
    #[multiple_of(8)] columns: i32,
) {
    let (m, n) = (block_id(0) * 128, block_id(1) * BN);
    let (x_bufs, w_bufs) = (shared::<bf16>([STAGES, 128, 64]), shared::<bf16>([STAGES, 64, BN]));
    // A buffer is full when w has come and the gathering warps have stored their rows: two arrivals.
    let (full, empty) = (barriers(STAGES, 2), barriers(STAGES, 1));
    let count = gather.dim(0);
    let multiply = || {
        let mut acc = zeros::<f32>([128, BN]);
        let mut ring = Ring::reader(STAGES);
        let mut before = 0;
        for k in range(0, depth, 64) {
            full[ring.slot].wait(ring.phase);
            acc = wgmma::mma(x_bufs[ring.slot], w_bufs[ring.slot], acc);
            acc = wgmma::wait(1, acc); // the product before this one is done
            if k > 0 {
                empty[before].arrive();
            }
            before = ring.slot;
            ring.advance();
        }
        acc = wgmma::wait(0, acc);
        let rows = scatter.tile([m], [128]).load().expand(1);
        let at = n + arange(0, BN).expand(0);
        let listed = (m + arange(0, 128)).lt(count).expand(1);
        let mask = listed.broadcast([128, BN]) & at.lt(columns);
        let to = rows.cast::<i64>() * i64::from(columns) + at.cast::<i64>();
        store_masked(out + to, mask, acc.cast::<bf16>());
    };
    let fetch = || {
        let rows = gather.tile([m], [128]).load().expand(1);
        let from = rows.cast::<i64>() * i64::from(depth);
        let listed = (m + arange(0, 128)).lt(count).expand(1);
        let mut ring = Ring::writer(STAGES);
        for k in range(0, depth, 64) {
            let at = k + arange(0, 64).expand(0);
            let mask = listed.broadcast([128, 64]) & at.lt(depth);
            let tile = load_masked(x + (from + at.cast::<i64>()), mask, bf16::ZERO);
            empty[ring.slot].wait(ring.phase);
            full[ring.slot].expect(w.block_bytes());
            tma::load(w, [k, n], full[ring.slot], w_bufs[ring.slot]);
            x_bufs[ring.slot].store(tile);
            fence_async();
            full[ring.slot].arrive();
            ring.advance();
        }
    };
    warp_specialize(multiply, [partition(4).registers(72).run(fetch)]);
}

fn main() -> Result<()> {
    let device = Device::best_for(fused::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<3>() {
        Some([m, n, k]) => vec![[m, n, k]],
        None if device.is_emulator() => vec![[200, 136, 200]],
        None => vec![[4096, 4096, 4096], [1024, 1024, 2048], [200, 136, 200]],
    };
    let mut table =
        report::Table::new(&["rows", "n", "k", "instance", "rel. error", "ms", "TFLOP/s"]);
    let progress = report::progress(2 * sizes.len(), "matmul_gather_scatter");
    for [m, n, k] in sizes {
        let values = |len, seed| -> Vec<bf16> {
            normal::numbers(len, seed).into_iter().map(bf16::from_f32).collect()
        };
        let (x_host, w_host) = (values(m * k, 1), values(k * n, 2));
        // Each row once, in another order: steps coprime to the number of rows.
        let order = |step: usize| -> Vec<i32> {
            (0..m).map(|i| i32::try_from(i * step % m).expect("rows are few")).collect()
        };
        let (gather_host, scatter_host) = (order(7919), order(104_729));
        let (x, w) = (stream.upload(&x_host, [m, k])?, stream.upload(&w_host, [k, n])?);
        let gather = stream.upload(&gather_host, [m])?;
        let scatter = stream.upload(&scatter_host, [m])?;
        let floats = |host: &[bf16]| -> Vec<f32> { host.iter().map(|x| x.to_f32()).collect() };
        let reference = Reference::of(&floats(&x_host), &floats(&w_host), |_, _| 0.0, [m, n, k]);
        // Where each row of x · w is: from where it was gathered, to where it is scattered.
        let mut rows = vec![0; m];
        for (&from, &to) in gather_host.iter().zip(&scatter_host) {
            let natural = |row: i32| usize::try_from(row).expect("rows are natural");
            rows[natural(from)] = natural(to);
        }
        for (at, name) in ["128x128, 4 stages", "128x256, 3 stages"].into_iter().enumerate() {
            let out = stream.full([m, n], bf16::NAN)?;
            let launch = || {
                let args = fused::Args {
                    x: x.device_ptr(),
                    gather: &gather,
                    w: &w,
                    scatter: &scatter,
                    out: out.device_ptr(),
                    depth: i32::try_from(k).expect("rows are short"),
                    columns: i32::try_from(n).expect("rows are short"),
                };
                let launch = if at == 0 { fused::<128, 4>(args) } else { fused::<256, 3>(args) };
                // SAFETY: `x` and `out` have `m` rows of `k` and `n` elements, and the lists name rows from 0 to `m`; both
                // tensors live until the stream has been read from.
                unsafe { launch.launch(&stream) }
            };
            launch()?;
            let ms = report::median_ms(&stream, launch)?;
            let actual = out.to_vec(&stream)?;
            // Both are rounded to bf16: where sums in f32 may be off across the middle between two numbers, to either.
            let range = |_, _, required: f64| {
                let off = normal::rounding(k, required);
                [required - off, required + off].map(|edge| bf16::from_f64(edge).to_f64())
            };
            let name_and_size = format!("{name} at {m}x{n}x{k}");
            let error = reference.compare(&name_and_size, range, |row, column| {
                actual[rows[row] * n + column].to_f64()
            });
            table.row(&[&m, &n, &k, &name], error, ms, 2e-3 * m as f64 * n as f64 * k as f64);
            // Rounding the result alone costs up to 2^-9 of each value.
            assert!(error < 3e-3, "{name_and_size}: relative error {error}");
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    table.print();
    Ok(())
}
