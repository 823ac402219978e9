//! What the first launch of a kernel takes in a process: with PTX alone the driver compiles it, with machine code beside it nothing is
//! compiled.
//!
//! `CUDA_CACHE_DISABLE=1 cargo run --release -p benches --bin first_launch`, and again with `KILN_CUBIN=sm_90a` while building.
//! `CUDA_DISABLE_PTX_JIT=1` forbids the driver to compile: only the second program runs under it.
#![expect(clippy::print_stdout, reason = "a program that prints its measurements")]

use std::time::{Duration, Instant};

use anyhow::Result;
use kiln::prelude::*;

#[path = "../../../examples/matmul_warp_specialized.rs"]
#[expect(dead_code, reason = "only the kernel is used")]
mod example;
#[path = "../../../examples/support/report.rs"]
#[expect(dead_code, unreachable_pub, clippy::cast_precision_loss, reason = "the example needs it")]
#[expect(clippy::duplicate_mod, reason = "the example stands for itself, with its report")]
mod report;

use example::gemm::matmul;

/// Sizes of the product: one tile, so that running it is nothing beside loading it.
const SIZE: usize = 128;

fn launch(
    stream: &Stream,
    a: &DeviceTensor<bf16, 2>,
    c: &mut DeviceTensor<bf16, 2>,
) -> Result<Duration> {
    let begin = Instant::now();
    matmul::<bf16, bf16, 256, 64, 3, true, false>(matmul::Args { a, b: a, c }).launch(stream)?;
    stream.synchronize()?;
    Ok(begin.elapsed())
}

fn main() -> Result<()> {
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    let a = stream.zeros([SIZE, SIZE])?;
    let mut c = stream.zeros([SIZE, SIZE])?;
    stream.synchronize()?;
    let (first, second) = (launch(&stream, &a, &mut c)?, launch(&stream, &a, &mut c)?);
    println!("{device}: first launch {first:?}, second {second:?}");
    Ok(())
}
