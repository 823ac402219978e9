//! out = a + b, a block at a time: the smallest kernel.
//!
//! `cargo run --release --example vector_add`

#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "an example prints, measures in f64, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

// ANCHOR: kernel
/// Adds `N` elements in each block.
#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), N), instances(N = [1024]))]
pub fn vector_add<const N: i32>(a: Tensor<f32, 1>, b: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * N];
    out.tile(at, [N]).store(a.tile(at, [N]).load() + b.tile(at, [N]).load());
}
// ANCHOR_END: kernel

fn main() -> Result<()> {
    let device = Device::best_for(vector_add::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    println!("{:>9}  {:>12}", "elements", "max |error|");
    for n in [1, 1000, 65_536, 1_000_003] {
        let a_host: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
        let b_host: Vec<f32> = (0..n).map(|i| 1.0 - i as f32 * 0.25).collect();
        let (a, b) = (stream.upload(&a_host, [n])?, stream.upload(&b_host, [n])?);
        let mut out = stream.zeros::<f32, 1>([n])?;
        vector_add::<1024>(vector_add::Args { a: &a, b: &b, out: &mut out }).launch(&stream)?;
        let worst = out
            .to_vec(&stream)?
            .iter()
            .zip(a_host.iter().zip(&b_host))
            .map(|(sum, (a, b))| (sum - (a + b)).abs())
            .fold(0.0f32, f32::max);
        println!("{n:>9}  {worst:>12}");
        assert!(worst == 0.0, "one addition is correctly rounded everywhere");
    }
    Ok(())
}
