use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn set(p: Ptr<f32>) {
    store(p, 1.0);
}

fn main() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let x = stream.full([64], 1.0f32)?;
    // SAFETY: the tensor lives until the stream is done.
    unsafe { set(set::Args { p: &x }).launch(&stream)? };
    Ok(())
}
