use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn affine(x: TensorMut<f32, 1>, scale: f32, bias: Option<Tensor<f32, 1>>) {
    let at = block_id(0) * 128;
    let w = x.tile([at], [128]);
    let mut y = w.load() * scale;
    if let Some(bias) = bias {
        y += bias.tile([at], [128]).load();
    }
    w.store(y);
}

fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let mut x = stream.upload(&[1.0f32, 2.0, 3.0], [3])?;
    affine(affine::Args { x: &mut x, scale: 2.0 }).launch(&stream)?;
    Ok(())
}
