//! A sum of two vectors by Kiln, in a program that has the driver through cudarc as well.

use cudarc::driver::CudaContext;
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 1024))]
pub fn add(a: Tensor<f32, 1>, b: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 1024];
    out.tile(at, [1024]).store(a.tile(at, [1024]).load() + b.tile(at, [1024]).load());
}

fn main() -> Result<()> {
    let device = match Device::cuda(0) {
        Ok(device) => device,
        Err(
            missing @ (Error::DriverMissing { .. }
            | Error::NoSuchDevice { .. }
            | Error::DriverTooOld { .. }),
        ) => {
            println!("no GPU: {missing}");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    // cudarc and Kiln both use the primary context of the device.
    let context = CudaContext::new(0).expect("Kiln found the device");
    let stream = device.stream()?;
    let a: Vec<f32> = (0u16..3000).map(f32::from).collect();
    let b: Vec<f32> = (0u16..3000).map(|i| f32::from(i) * 0.5).collect();
    let theirs = context.default_stream().clone_htod(&a).expect("a few bytes are free");
    let (a, b) = (stream.upload(&a, [3000])?, stream.upload(&b, [3000])?);
    let mut out = stream.zeros::<f32, 1>([3000])?;
    let start = stream.record()?;
    add(add::Args { a: &a, b: &b, out: &mut out }).launch(&stream)?;
    let milliseconds = start.elapsed_ms(&stream.record()?)?;
    let sums = out.to_vec(&stream)?;
    let theirs = context.default_stream().clone_dtoh(&theirs).expect("the copy is there");
    let right = sums.iter().zip(&theirs).all(|(sum, a)| *sum == a * 1.5);
    println!(
        "3000 sums on {device} in {milliseconds} ms: {}",
        if right { "right" } else { "wrong" }
    );
    assert!(right, "a + a / 2 = 1.5 a");
    Ok(())
}
