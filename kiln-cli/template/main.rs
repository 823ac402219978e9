//! Runs a kernel on a GPU, or on the emulator where there is none.

mod kernels;

use kernels::axpy;
use kiln::prelude::*;

fn main() -> kiln::Result<()> {
    let device = Device::best_for(axpy::TARGETS)?;
    println!("on {device}");
    let stream = device.stream()?;
    let x = stream.upload(&[1.0f32, 2.0, 3.0, 4.0], [4])?;
    let mut y = stream.upload(&[10.0f32; 4], [4])?;
    axpy::<1024>(axpy::Args { alpha: 0.5, x: &x, y: &mut y }).launch(&stream)?;
    println!("{:?}", y.to_vec(&stream)?); // [10.5, 11.0, 11.5, 12.0]
    Ok(())
}
