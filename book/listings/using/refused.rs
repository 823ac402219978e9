use super::tensors::scale;
use kiln::prelude::*;

// ANCHOR: kernel
/// out = x + 1; `n` and the rows of `x` are promised to be what the kernel is fastest with.
#[kernel(target = sm_80, warps = 4, grid = cdiv(n, 512))]
pub fn add_one(#[multiple_of(8)] n: i32, x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 512];
    out.tile(at, [512]).store(x.tile(at, [512]).load() + 1.0);
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    // ANCHOR: main
    let (ampere, hopper) = (Device::emulator(Target::Sm80)?, Device::emulator(Target::Sm90a)?);
    let (stream, other) = (ampere.stream()?, hopper.stream()?);
    let x = stream.full([100], 1.0f32)?;
    let mut out = stream.zeros([100])?;

    let fact = add_one(add_one::Args { n: 100, x: &x, out: &mut out }).launch(&stream);
    println!("{}\n", fact.expect_err("100 is no multiple of 8"));

    let elsewhere = add_one(add_one::Args { n: 104, x: &x, out: &mut out }).launch(&other);
    println!("{}\n", elsewhere.expect_err("the tensors belong to another device"));

    let shape = x.reshape([7, 15]).map(|_| ());
    println!("{}\n", shape.expect_err("there are 100 elements"));

    let missing = scale::Values { N: 512 }.find().map(|_| ());
    println!("{}", missing.expect_err("only 256 is compiled"));
    // ANCHOR_END: main
    Ok(())
}
