use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 128))]
pub fn add(a: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 128];
    out.tile(at, [128]).store(a.tile(at, [128]).load() + out.tile(at, [128]).load());
}

fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let mut x = stream.full([1000], 1.0f32)?;
    add(add::Args { a: &x, out: &mut x }).launch(&stream)?;
    Ok(())
}
