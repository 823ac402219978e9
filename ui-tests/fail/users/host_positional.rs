use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 128))]
pub fn add(a: Tensor<f32, 1>, b: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 128];
    out.tile(at, [128]).store(a.tile(at, [128]).load() + b.tile(at, [128]).load());
}

fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let (a, b) = (stream.full([1000], 1.0f32)?, stream.full([1000], 2.0f32)?);
    let mut out = stream.zeros::<f32, 1>([1000])?;
    add(&a, &b, &mut out).launch(&stream)?;
    Ok(())
}
