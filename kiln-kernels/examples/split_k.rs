//! A deep product, c = a · b: tiles of c are few, so blocks share the steps along k of each, and fill the card.
//!
//! `cargo run --release -p kiln-gpu-kernels --example split_k [-- M N K | --large]`
//!
//! [`Matmul`] chooses how many blocks share a tile. The parts are added in f32, and the sum is rounded once.

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "an example prints, measures in f64, and has parts in common with others"
)]

use kiln::prelude::*;
use kiln_kernels::matmul::Matmul;

#[path = "../../examples/support/normal.rs"]
mod normal;
#[path = "../../examples/support/reference.rs"]
mod reference;
#[path = "../../examples/support/report.rs"]
mod report;

use reference::Reference;

fn main() -> Result<()> {
    let device = Device::best_for(Matmul::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<3>() {
        Some(size) => vec![size],
        None if device.is_emulator() => vec![[72, 136, 1096]],
        None => vec![[256, 512, 65536], [72, 136, 1096]],
    };
    let mut table = report::Table::new(&["m", "n", "k", "rel. error", "ms", "TFLOP/s"]);
    let progress = report::progress(sizes.len(), "split_k");
    let mut matmul = Matmul::new(&stream)?;
    for [m, n, k] in sizes {
        let numbers = |len, seed| -> Vec<bf16> {
            normal::numbers(len, seed).into_iter().map(bf16::from_f32).collect()
        };
        let (a_host, b_host) = (numbers(m * k, 1), numbers(k * n, 2));
        let (a, b) = (stream.upload(&a_host, [m, k])?, stream.upload(&b_host, [k, n])?);
        let mut c = stream.full([m, n], bf16::NAN)?;
        // `product` takes an operand of shape [n, k]: this view of what is stored as [k, n].
        let b = b.transpose();
        matmul.product(&stream, &a, &b, &mut c)?;

        let actual = c.to_vec(&stream)?;
        let floats = |host: &[bf16]| -> Vec<f32> { host.iter().map(|x| x.to_f32()).collect() };
        let reference = Reference::of(&floats(&a_host), &floats(&b_host), |_, _| 0.0, [m, n, k]);
        let range = |_, _, required: f64| {
            let off = normal::rounding(k, required) + required.abs() / 256.0; // half of a last place
            [required - off, required + off]
        };
        let name = format!("{m}x{n}x{k}");
        let error = reference
            .compare(&name, range, |row, column| f64::from(actual[row * n + column].to_f32()));
        let ms = report::median_ms(&stream, || matmul.product(&stream, &a, &b, &mut c))?;
        table.row(&[&m, &n, &k], error, ms, 2e-3 * m as f64 * n as f64 * k as f64);
        progress.inc(1);
    }
    progress.finish_and_clear();
    table.print();
    Ok(())
}
