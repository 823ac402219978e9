use kiln::prelude::*;
use kiln_kernels::Activation;
use kiln_kernels::matmul::{Epilogue, Matmul};
use kiln_kernels::rows::rms_norm;

pub fn main() -> kiln::Result<()> {
    // ANCHOR: main
    let stream = Device::best_for(Matmul::TARGETS)?.stream()?;

    // A layer: 3 rows of 64 inputs, 128 outputs, a bias and an activation.
    let rows = stream.full([3, 64], bf16::from_f32(0.25))?;
    let weights = stream.full([128, 64], bf16::from_f32(0.5))?;
    let bias = stream.full([128], bf16::from_f32(-3.0))?;
    let mut hidden = stream.zeros([3, 128])?;
    let relu = Epilogue {
        bias: Some(&bias),
        activation: Some(Activation::Relu),
        ..Epilogue::default()
    };
    let mut matmul = Matmul::new(&stream)?;
    matmul.product_with(&stream, &rows, &weights, &mut hidden, relu)?;
    println!("{}", hidden.to_vec(&stream)?[0]); // 64 · 0.25 · 0.5 - 3

    // Its norm.
    let gains = stream.full([128], bf16::from_f32(2.0))?;
    let mut normed = stream.zeros([3, 128])?;
    rms_norm(&stream, &hidden, &gains, 0.0, &mut normed)?;
    println!("{}", normed.to_vec(&stream)?[0]);
    // ANCHOR_END: main
    Ok(())
}
