use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn scale(x: TensorMut<f32, 1>, by: f32) {
    let w = x.tile([block_id(0) * 128], [128]);
    w.store(w.load() * by);
}

fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let mut x = stream.full([1000], 1.0)?;
    let by: f64 = 0.5;
    scale(scale::Args { x: &mut x, by }).launch(&stream)?;
    Ok(())
}
