use kiln::prelude::*;

// ANCHOR: kernel
/// out = xᵀ, by way of shared memory.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn turned(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let tile = shared::<f32>([64, 64]);
    tile.store(x.tile([0, 0], [64, 64]).load());
    sync();
    out.tile([0, 0], [64, 64]).store(tile.t().load());
}
// ANCHOR_END: kernel

// ANCHOR: main
pub fn main() -> kiln::Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let x = stream.full([64, 64], 1.0f32)?;
    let mut out = stream.zeros([64, 64])?;
    turned(turned::Args { x: &x, out: &mut out }).launch(&stream)?;
    let report = device.emulator_report().expect("a launch has run");
    assert_eq!(report.shared_bank_conflicts, 0);
    println!("{} bank conflicts", report.shared_bank_conflicts);
    Ok(())
}
// ANCHOR_END: main
