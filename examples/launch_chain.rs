//! A chain of small kernels, each of which needs the one before: launched one by one, with early starts, and as a graph.
//!
//! `cargo run --release --example launch_chain`
//!
//! Kernels this short take less time than their launches. Two things help: `launch_dependents` and
//! `grid_dependency_wait` let the blocks of a kernel start while the previous kernel ends (programmatic dependent
//! launch, from Hopper on), and a graph puts the whole chain on the stream with one call.

#![expect(
    clippy::print_stdout,
    reason = "an example prints, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

/// x = factor · x + 1, by blocks of `N` elements.
#[kernel(target = [sm_80, sm_90a], warps = 4, grid = cdiv(x.dim(0), N), instances(N = [512]))]
pub fn step<const N: i32>(x: TensorMut<f32, 1>, factor: f32) {
    let window = x.tile([block_id(0) * N], [N]);
    window.store(window.load() * factor + 1.0);
}

/// The same, started while the previous kernel is ending: it waits before it reads what that has written.
#[kernel(target = sm_90a, warps = 4, grid = cdiv(x.dim(0), N), instances(N = [512]))]
pub fn early_step<const N: i32>(x: TensorMut<f32, 1>, factor: f32) {
    launch_dependents();
    let window = x.tile([block_id(0) * N], [N]);
    grid_dependency_wait();
    window.store(window.load() * factor + 1.0);
}

/// Kernels in a chain.
const STEPS: u8 = 40;

/// The factor of a step: halves and doubles, so that results are exact.
fn factor(step: u8) -> f32 {
    if step.is_multiple_of(2) { 0.5 } else { 2.0 }
}

fn one_by_one(x: &mut DeviceTensor<f32, 1>, stream: &Stream) -> Result<()> {
    (0..STEPS).try_for_each(|index| {
        step::<512>(step::Args { x: &mut *x, factor: factor(index) }).launch(stream)
    })
}

fn with_early_starts(x: &mut DeviceTensor<f32, 1>, stream: &Stream) -> Result<()> {
    (0..STEPS).try_for_each(|index| {
        early_step::<512>(early_step::Args { x: &mut *x, factor: factor(index) }).launch(stream)
    })
}

fn main() -> Result<()> {
    let device = Device::best_for(step::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}, {STEPS} kernels");
    let start: Vec<f32> = (0u16..5000).map(|i| f32::from(i % 64)).collect();
    let expected: Vec<f32> = start
        .iter()
        .map(|x| (0..STEPS).fold(*x, |x, index| factor(index).mul_add(x, 1.0)))
        .collect();
    let mut x = stream.upload(&start, [start.len()])?;
    // Kernels are loaded before anything is timed or recorded.
    step::<512>(step::Args { x: &mut x, factor: 1.0 }).load(&device)?;

    let mut ways: Vec<(&str, Graph)> = Vec::new();
    ways.push(("as a graph", device.capture(|stream| one_by_one(&mut x, stream))?));
    let early = early_step::TARGETS.iter().any(|target| device.runs(*target));
    if early {
        early_step::<512>(early_step::Args { x: &mut x, factor: 1.0 }).load(&device)?;
        let graph = device.capture(|stream| with_early_starts(&mut x, stream))?;
        ways.push(("as a graph, early starts", graph));
    }

    let mut run = |name: &str, work: &dyn Fn(&mut DeviceTensor<f32, 1>) -> Result<()>| {
        stream.write(&mut x, &start)?;
        let (before, host) = (stream.record()?, std::time::Instant::now());
        work(&mut x)?;
        let (host, after) = (host.elapsed(), stream.record()?);
        let device_us = f64::from(before.elapsed_ms(&after)?) * 1000.0;
        println!(
            "{name:<26} {device_us:>9.1} us on the device, {:>7.1} us for the host to launch",
            host.as_secs_f64() * 1e6
        );
        assert!(x.to_vec(&stream)? == expected, "the chain is out of order");
        Ok(())
    };
    for _ in 0..2 {
        run("one by one", &|x| one_by_one(x, &stream))?;
        if early {
            run("one by one, early starts", &|x| with_early_starts(x, &stream))?;
        }
        for (name, graph) in &ways {
            run(name, &|_| graph.launch(&stream))?;
        }
    }
    Ok(())
}
