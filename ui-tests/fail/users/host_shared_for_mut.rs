use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn double(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = block_id(0) * 128;
    out.tile([at], [128]).store(x.tile([at], [128]).load() * 2.0);
}

fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let x = stream.full([128], 1.0f32)?;
    let out = stream.full([128], 0.0f32)?;
    double(double::Args { x: &x, out: &out }).launch(&stream)?;
    Ok(())
}
