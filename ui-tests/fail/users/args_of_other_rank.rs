use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
pub fn scale(factor: f32, x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 1024];
    out.tile(at, [1024]).store(x.tile(at, [1024]).load() * factor);
}

fn main() -> kiln::Result<()> {
    let device = Device::best_for(scale::TARGETS)?;
    let stream = device.stream()?;
    let x = stream.upload(&[1.0f32; 4096], [64, 64])?;
    let mut out = stream.zeros::<f32, 1>([4096])?;
    scale(scale::Args { factor: 2.0, x: &x, out: &mut out }).launch(&stream)?;
    Ok(())
}
