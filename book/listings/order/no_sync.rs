use kiln::prelude::*;

// ANCHOR: kernel
/// out = xᵀ, through shared memory. What one thread writes, another one reads.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn turned(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let tile = shared::<f32>([64, 64]);
    tile.store(x.tile([0, 0], [64, 64]).load());
    out.tile([0, 0], [64, 64]).store(tile.t().load());
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let x = stream.full([64, 64], 1.0f32)?;
    let mut out = stream.zeros([64, 64])?;
    let launched = turned(turned::Args { x: &x, out: &mut out }).launch(&stream);
    println!("{}", launched.expect_err("the emulator reports the race"));
    Ok(())
}
