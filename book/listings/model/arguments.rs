use kiln::prelude::*;

// ANCHOR: option
/// A bias for each column, if there is one.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(1), 128))]
pub fn bias(x: TensorMut<f32, 2>, bias: Option<Tensor<f32, 1>>) {
    let column = block_id(0) * 128;
    let window = x.tile([0, column], [16, 128]);
    let mut sum = window.load();
    if let Some(bias) = bias {
        sum += bias.tile([column], [128]).load().expand(0);
    }
    window.store(sum);
}
// ANCHOR_END: option

// ANCHOR: array
/// The mean of `N` tensors.
#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 128), instances(N = [2, 3]))]
pub fn mean<const N: usize>(xs: [Tensor<f32, 1>; N], out: TensorMut<f32, 1>) {
    let at = block_id(0) * 128;
    let mut sum = zeros::<f32>([128]);
    for x in xs {
        sum += x.tile([at], [128]).load();
    }
    out.tile([at], [128]).store(sum / N as f32);
}
// ANCHOR_END: array

// ANCHOR: struct
#[kernel]
mod layers {
    use kiln::prelude::*;

    pub struct Layer {
        scale: Tensor<f32, 1>,
        bias: Option<Tensor<f32, 1>>,
        slope: f32,
    }

    #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
    pub fn forward(layer: Layer, x: TensorMut<f32, 1>) {
        let at = [block_id(0) * 128];
        let window = x.tile(at, [128]);
        let mut y = window.load() * layer.scale.tile(at, [128]).load();
        if let Some(bias) = layer.bias {
            y += bias.tile(at, [128]).load();
        }
        window.store(select(y.gt(0.0), y, layer.slope * y));
    }
}
use layers::{LayerArgs, forward};
// ANCHOR_END: struct

pub fn main() -> kiln::Result<()> {
    let stream = Device::best_for(bias::TARGETS)?.stream()?;
    // ANCHOR: main
    let mut x = stream.zeros::<f32, 2>([2, 300])?;
    let row = stream.full([300], 0.5f32)?;
    bias(bias::Args { x: &mut x, bias: Some(&row) }).launch(&stream)?;
    bias(bias::Args { x: &mut x, bias: None }).launch(&stream)?;
    println!("{}", x.to_vec(&stream)?[599]);

    // A view is an argument like a tensor: rows 1 and 2 of four, columns 100 to 199.
    let mut x = stream.zeros::<f32, 2>([4, 300])?;
    let mut part = x.slice_mut(0, 1..3)?.into_slice(1, 100..200)?;
    let short = row.slice(0, 0..100)?;
    bias(bias::Args { x: &mut part, bias: Some(&short) }).launch(&stream)?;
    println!("{:?}", x.to_vec(&stream)?.chunks(300).map(|r| r.iter().sum()).collect::<Vec<f32>>());

    let (a, b) = (stream.full([200], 1.0f32)?, stream.full([200], 4.0f32)?);
    let mut out = stream.zeros([200])?;
    mean::<2>(mean::Args { xs: [&a, &b], out: &mut out }).launch(&stream)?;
    println!("{}", out.to_vec(&stream)?[199]);

    let layer = LayerArgs { scale: &b, bias: Some(&a), slope: 0.125 };
    forward(forward::Args { layer, x: &mut out }).launch(&stream)?;
    println!("{}", out.to_vec(&stream)?[199]);
    // ANCHOR_END: main

    // ANCHOR: refused
    let elsewhere = Device::emulator(Target::Sm80)?.stream()?.full([200], 1.0f32)?;
    let launched = mean::<2>(mean::Args { xs: [&a, &elsewhere], out: &mut out }).launch(&stream);
    println!("{}", launched.expect_err("a tensor of another device"));
    // ANCHOR_END: refused
    assert_eq!(out.to_vec(&stream)?, [11.0; 200]);
    Ok(())
}
