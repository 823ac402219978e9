//! A test is a crate of its own, with the names of the package.

use tiles::prelude::*;

#[tiles::kernel(target = sm_80, grid = 1)]
fn halve(y: TensorMut<f32, 1>) {
    let window = y.tile([0], [64]);
    window.store(library::act::leaky(window.load() * 2.0) * 0.25);
}

#[test]
fn kernels_of_a_test_run() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let mut y = stream.upload(&[8.0f32, -8.0], [2])?;
    halve(halve::Args { y: &mut y }).launch(&stream)?;
    assert_eq!(y.to_vec(&stream)?, [4.0, -1.0]);
    Ok(())
}
