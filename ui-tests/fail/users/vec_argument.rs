use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
pub fn scale(factor: f32, x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 1024];
    out.tile(at, [1024]).store(x.tile(at, [1024]).load() * factor);
}

fn main() -> kiln::Result<()> {
    let stream = Device::emulator(scale::TARGETS[0])?.stream()?;
    let x = vec![1.0f32; 4096];
    let mut out = vec![0.0f32; 4096];
    scale(scale::Args { factor: 2.0, x: &x, out: &mut out }).launch(&stream)?;
    Ok(())
}
