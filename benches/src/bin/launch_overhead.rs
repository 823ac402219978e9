//! What a launch costs the host: Kiln's, with all its checks, beside a bare `cuLaunchKernel` of the same kernel.
//!
//! `cargo run --release -p benches --bin launch_overhead`
#![expect(clippy::print_stdout, reason = "a program that prints its measurements")]

use std::{
    ffi::{CString, c_void},
    hint::black_box,
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use cudarc::driver::{CudaContext, result, sys};
use kiln::prelude::*;

/// Three tensors and a scalar: 16 parameters, as many as an ordinary fused kernel has.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(out.dim(0), 32), cdiv(out.dim(1), 32)])]
fn scaled_sum(scale: f32, a: Tensor<f32, 2>, b: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let at = [block_id(0) * 32, block_id(1) * 32];
    let sum = a.tile(at, [32, 32]).load() + scale * b.tile(at, [32, 32]).load();
    out.tile(at, [32, 32]).store(sum);
}

/// One block: the device keeps up with the host, so that only the host is measured.
const SHAPE: [usize; 2] = [32, 32];
/// Launches in a row, fewer than the driver queues before it waits.
const LAUNCHES: u32 = 300;
/// Rows of launches: Kiln's and bare ones in turn, so that both see the same state of the machine.
const ROUNDS: usize = 200;

/// The driver's view of the kernel, and its arguments.
struct Bare {
    function: sys::CUfunction,
    stream: sys::CUstream,
    threads: u32,
    values: Vec<u64>,
}

impl Bare {
    fn launch(&mut self) -> Result<()> {
        let mut pointers: Vec<*mut c_void> =
            self.values.iter_mut().map(|value| (&raw mut *value).cast()).collect();
        // SAFETY: the function and the stream belong to the current context, and each of the kernel's parameters
        // has a pointer to a value of at least its size.
        let status = unsafe {
            sys::cuLaunchKernel(
                self.function,
                1,
                1,
                1,
                self.threads,
                1,
                1,
                0,
                self.stream,
                pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        ensure!(status == sys::CUresult::CUDA_SUCCESS, "cuLaunchKernel: {status:?}");
        Ok(())
    }
}

fn main() -> Result<()> {
    let device = match Device::cuda(0) {
        Ok(device) => device,
        Err(error) => {
            println!("no GPU here: {error}");
            return Ok(());
        }
    };
    let stream = device.stream()?;
    println!("on {device}");
    let (a, b) = (stream.full(SHAPE, 1.0f32)?, stream.full(SHAPE, 2.0f32)?);
    let mut out = stream.zeros::<f32, 2>(SHAPE)?;
    scaled_sum(scaled_sum::Args { scale: 3.0, a: &a, b: &b, out: &mut out }).launch(&stream)?;
    ensure!(is_right(&out.to_vec(&stream)?), "Kiln's launch gives another result");

    let image = &scaled_sum::INSTANCES[0].images()[0];
    let launch = scaled_sum(scaled_sum::Args { scale: 3.0, a: &a, b: &b, out: &mut out });
    let variant = launch.variant(&device)?;
    ensure!(variant.dynamic_shared_bytes == 0, "the bare launch asks for no shared memory");
    // The same context: both the runtime and this use the device's primary one.
    let context = CudaContext::new(0)?;
    let text = CString::new(variant.ptx)?;
    // SAFETY: the text ends with a zero and lives as long as the call.
    let module = unsafe { result::module::load_data(text.as_ptr().cast()) }?;
    let name = CString::new(variant.entry)?;
    // SAFETY: the module was just loaded and is never unloaded.
    let function = unsafe { result::module::get_function(module, name) }?;
    let queue = context.new_stream()?;
    let tensor = |address: u64| {
        let [rows, columns] = SHAPE.map(|extent| extent as u64);
        [address, rows, columns, columns, 1]
    };
    // The order in which `Image::params` describes them; a value of 4 bytes is the lower half of its place.
    let mut values = vec![u64::from(3.0f32.to_bits())];
    for address in [a.device_ptr(), b.device_ptr(), out.device_ptr()].map(DevicePtr::address) {
        values.extend(tensor(address));
    }
    let mut bare = Bare { function, stream: queue.cu_stream(), threads: image.threads, values };
    stream.fill(&mut out, 0.0)?;
    stream.synchronize()?;
    bare.launch()?;
    queue.synchronize()?;
    ensure!(is_right(&out.to_vec(&stream)?), "the bare launch gives another result");

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(microseconds(|| {
            let args = scaled_sum::Args { scale: 3.0, a: &a, b: &b, out: &mut out };
            Ok(scaled_sum(args).launch(&stream)?)
        })?);
        stream.synchronize()?;
        theirs.push(microseconds(|| bare.launch())?);
        queue.synchronize()?;
    }
    let checks = microseconds(|| {
        let args = scaled_sum::Args { scale: 3.0, a: &a, b: &b, out: &mut out };
        black_box(scaled_sum(args).variant(&device)?);
        Ok(())
    })?;
    let (ours, theirs) = (Spread::of(ours)?, Spread::of(theirs)?);
    println!("{:<28}{:>10}{:>10}{:>10}   us a launch", "", "median", "p10", "p90");
    for (what, spread) in [("Kiln", &ours), ("cuLaunchKernel", &theirs)] {
        println!("{what:<28}{:>10.3}{:>10.3}{:>10.3}", spread.median, spread.p10, spread.p90);
    }
    println!("{:<28}{:>10.3}", "Kiln more than bare", ours.median - theirs.median);
    println!("{:<28}{checks:>10.3}   without the driver", "arguments and checks");
    Ok(())
}

/// Whether all elements are 1 + 3 · 2.
fn is_right(out: &[f32]) -> bool {
    out.iter().all(|x| x.to_bits() == 7.0f32.to_bits())
}

/// The time of one of [`LAUNCHES`] in a row.
fn microseconds(mut launch: impl FnMut() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..LAUNCHES {
        launch()?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(LAUNCHES))
}

struct Spread {
    median: f64,
    p10: f64,
    p90: f64,
}

impl Spread {
    fn of(mut times: Vec<f64>) -> Result<Spread> {
        times.sort_by(f64::total_cmp);
        let at = |percent: usize| times.get(times.len() * percent / 100).copied();
        let spread = (at(50), at(10), at(90));
        let (Some(median), Some(p10), Some(p90)) = spread else { return None.context("no times") };
        Ok(Spread { median, p10, p90 })
    }
}
