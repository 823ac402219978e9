use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn add(x: TensorMut<f32, 1>, bias: Option<Tensor<f32, 1>>) {
    let at = block_id(0) * 128;
    let w = x.tile([at], [128]);
    if let Some(bias) = bias {
        w.store(w.load() + bias.tile([at], [128]).load());
    }
}

fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let bias = stream.full([128], 1.0f32)?;
    let mut x = stream.full([128], 0.0f32)?;
    add(add::Args { x: &mut x, bias: &bias }).launch(&stream)?;
    Ok(())
}
