//! c = a · b with a large `k` and a small result: blocks split `k`, and add their parts in the result's memory.
//!
//! `cargo run --release --example split_k [-- M N K | --large]`
//!
//! TMA adds each block's tile to the tensor in f32; the order of the blocks is not fixed, so the last bits may differ
//! from run to run.

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "an example prints, measures in f64, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

#[path = "support/normal.rs"]
mod normal;
#[path = "support/reference.rs"]
mod reference;
#[path = "support/report.rs"]
mod report;

use reference::Reference;

/// Block (i, j, s) multiplies `SPAN` of the depth of tile (i, j), and adds the result.
#[kernel(target = sm_90a, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 128), cdiv(a.dim(1), SPAN)],
         instances(SPAN = [512, 2048], STAGES = [4]))]
pub fn split_k<const SPAN: i32, const STAGES: i32>(
    #[block(64, 64)] a: TensorMap<bf16, 2>,
    #[block(64, 128)] b: TensorMap<bf16, 2>,
    #[block(64, 128)] c: TensorMapMut<f32, 2>,
) {
    let (m, n) = (block_id(0) * 64, block_id(1) * 128);
    let begin = block_id(2) * SPAN;
    let (a_bufs, b_bufs) = (shared::<bf16>([STAGES, 64, 64]), shared::<bf16>([STAGES, 64, 128]));
    let full = barriers(STAGES, 1);
    // Beyond the end of the depth zeros come in, which add nothing.
    let load = |step: i32| {
        let (slot, k) = (step % STAGES, begin + step * 64);
        full[slot].expect(a.block_bytes() + b.block_bytes());
        tma::load(a, [m, k], full[slot], a_bufs[slot]);
        tma::load(b, [k, n], full[slot], b_bufs[slot]);
    };
    for step in unroll(0..STAGES) {
        load(step);
    }
    let mut acc = zeros::<f32>([64, 128]);
    for step in 0..SPAN / 64 {
        let slot = step % STAGES;
        full[slot].wait(step / STAGES % 2);
        acc = wgmma::mma(a_bufs[slot], b_bufs[slot], acc);
        acc = wgmma::wait(0, acc);
        sync(); // all four warps are done with the buffers
        if step + STAGES < SPAN / 64 {
            load(step + STAGES);
        }
    }
    let sums = shared::<f32>([64, 128]);
    sums.store(acc);
    fence_async();
    tma::reduce_add(c, [m, n], sums);
    tma::store_wait(0);
}

fn main() -> Result<()> {
    let device = Device::best_for(split_k::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<3>() {
        Some([m, n, k]) => vec![[m, n, k]],
        None if device.is_emulator() => vec![[72, 136, 1096]],
        None => vec![[256, 512, 65536], [72, 136, 1096]],
    };
    let mut table = report::Table::new(&["m", "n", "k", "instance", "rel. error", "ms", "TFLOP/s"]);
    let progress = report::progress(split_k::INSTANCES.len() * sizes.len(), "split_k");
    for [m, n, k] in sizes {
        let values = |len, seed| -> Vec<bf16> {
            normal::numbers(len, seed).into_iter().map(bf16::from_f32).collect()
        };
        let (a_host, b_host) = (values(m * k, 1), values(k * n, 2));
        let (a, b) = (stream.upload(&a_host, [m, k])?, stream.upload(&b_host, [k, n])?);
        let floats = |host: &[bf16]| -> Vec<f32> { host.iter().map(|x| x.to_f32()).collect() };
        let reference = Reference::of(&floats(&a_host), &floats(&b_host), |_, _| 0.0, [m, n, k]);
        for instance in split_k::instances() {
            let name = format!("{} a block", instance.SPAN);
            let mut c = stream.zeros::<f32, 2>([m, n])?;
            instance.with(split_k::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
            let actual = c.to_vec(&stream)?;
            let name_and_size = format!("{name} at {m}x{n}x{k}");
            let range = |_, _, required: f64| {
                let off = normal::rounding(k, required);
                [required - off, required + off]
            };
            let error = reference
                .compare(&name_and_size, range, |row, column| f64::from(actual[row * n + column]));
            // What is timed adds to what is there: the sums are not looked at any more.
            let ms = report::median_ms(&stream, || {
                instance.with(split_k::Args { a: &a, b: &b, c: &mut c }).launch(&stream)
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
