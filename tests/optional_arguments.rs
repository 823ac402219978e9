//! Arguments that may be absent: each choice of them is code of its own, and the launch takes that of its arguments.

use kiln::prelude::*;

/// `out = (x + bias) * scale`, each of the two only if it is there.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(out.dim(0), 16), cdiv(out.dim(1), 32)])]
fn affine(
    x: Tensor<f32, 2>,
    bias: Option<Tensor<f32, 1>>,
    scale: Option<f32>,
    out: TensorMut<f32, 2>,
) {
    let at = [block_id(0) * 16, block_id(1) * 32];
    let mut acc = x.tile(at, [16, 32]).load();
    if let Some(bias) = bias {
        acc = acc + bias.tile([at[1]], [32]).load().expand(0);
    }
    acc = match scale {
        Some(scale) => acc * scale,
        None => acc,
    };
    out.tile(at, [16, 32]).store(acc);
}

fn stream() -> Result<Stream> {
    Device::emulator(Target::Sm80)?.stream()
}

#[test]
fn each_choice_of_two_arguments_computes_what_is_there() -> Result<()> {
    let stream = stream()?;
    for (rows, columns) in [(16, 32), (1, 1), (37, 50), (3, 64)] {
        let x_host: Vec<f32> = (0..rows * columns).map(|i| i as f32 - 40.0).collect();
        let bias_host: Vec<f32> = (0..columns).map(|j| 3.0 * j as f32 + 0.5).collect();
        let x = stream.upload(&x_host, [rows, columns])?;
        let there = stream.upload(&bias_host, [columns])?;
        for (with_bias, scale) in
            [(true, Some(2.0)), (true, None), (false, Some(2.0)), (false, None)]
        {
            let mut out = stream.zeros::<f32, 2>([rows, columns])?;
            let bias: Option<&dyn kiln::TensorArgument<f32, 1>> =
                if with_bias { Some(&there) } else { None };
            affine(affine::Args { x: &x, bias, scale, out: &mut out }).launch(&stream)?;
            let out = out.to_vec(&stream)?;
            for (at, value) in out.iter().enumerate() {
                let sum = x_host[at] + if with_bias { bias_host[at % columns] } else { 0.0 };
                let required = sum * scale.unwrap_or(1.0);
                assert_eq!(*value, required, "{rows} {columns} {with_bias} {scale:?} at {at}");
            }
        }
    }
    Ok(())
}
