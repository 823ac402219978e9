use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn halve(x: TensorMut<f32, 1>) {
    let w = x.tile([block_id(0) * 128], [128]);
    w.store(w.load() * 0.5);
}

fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let mut x = stream.full([1000], 1.0f32)?;
    halve(Args { x: &mut x }).launch(&stream)?;
    Ok(())
}
