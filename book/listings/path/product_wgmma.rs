use kiln::prelude::*;

// ANCHOR: threads
/// The threads copy, and `mma.sync` multiplies what they load to registers.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(0), 128), cdiv(c.dim(1), 128)])]
pub fn by_threads(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f16, 2>) {
    let (m, n) = (block_id(0) * 128, block_id(1) * 128);
    let (sa, sb) = (shared::<f16>([128, 64]), shared::<f16>([64, 128]));
    let mut acc = zeros::<f32>([128, 128]);
    for k in pipeline(range(0, a.dim(1), 64), 3) {
        copy_async(a.tile([m, k], [128, 64]), sa);
        copy_async(b.tile([k, n], [64, 128]), sb);
        acc = dot(sa, sb, acc);
    }
    c.tile([m, n], [128, 128]).store(acc.cast::<f16>());
}
// ANCHOR_END: threads

// ANCHOR: maps
/// TMA copies, and `wgmma` multiplies what is in shared memory.
#[kernel(target = sm_90a, warps = 4, grid = [cdiv(c.dim(0), 128), cdiv(c.dim(1), 128)])]
pub fn by_maps(
    #[block(128, 64)] a: TensorMap<f16, 2>,
    #[block(64, 128)] b: TensorMap<f16, 2>,
    c: TensorMut<f16, 2>,
) {
    let (m, n) = (block_id(0) * 128, block_id(1) * 128);
    let (sa, sb) = (shared::<f16>([128, 64]), shared::<f16>([64, 128]));
    let mut acc = zeros::<f32>([128, 128]);
    for k in pipeline(range(0, a.dim(1), 64), 3) {
        copy_async(a.at([m, k]), sa);
        copy_async(b.at([k, n]), sb);
        acc = dot(sa, sb, acc);
    }
    c.tile([m, n], [128, 128]).store(acc.cast::<f16>());
}
// ANCHOR_END: maps

pub fn main() -> kiln::Result<()> {
    let device = Device::emulator(Target::Sm90a)?;
    let stream = device.stream()?;
    let (mn, k) = (128, 1024);
    // A row of 1024 terms of i % 8 / 1024.
    let row = |at: usize, width: usize| f16::from_f32((at / width % 8) as f32 / 1024.0);
    let a: Vec<f16> = (0..mn * k).map(|at| row(at, k)).collect();
    let required: Vec<f16> = (0..mn * mn).map(|at| f16::from_f32((at / mn % 8) as f32)).collect();
    let (a, b) = (stream.upload(&a, [mn, k])?, stream.full([k, mn], f16::from_f32(1.0))?);
    println!("{:>10}  {:>17}", "", "warp instructions");
    let mut c = stream.zeros::<f16, 2>([mn, mn])?;
    by_threads(by_threads::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
    assert!(c.to_vec(&stream)? == required, "by threads");
    let report = device.emulator_report().expect("the emulator has run a launch");
    println!("{:>10}  {:>17}", "by threads", report.warp_instructions);
    let mut c = stream.zeros::<f16, 2>([mn, mn])?;
    by_maps(by_maps::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
    assert!(c.to_vec(&stream)? == required, "by maps");
    let report = device.emulator_report().expect("the emulator has run a launch");
    println!("{:>10}  {:>17}", "by maps", report.warp_instructions);
    Ok(())
}
