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

// ANCHOR: by_hand
/// The same with its barriers and buffers written out: two warpgroups, and four pairs of buffers.
#[kernel(target = sm_90a, warps = 8, grid = [cdiv(c.dim(0), 128), cdiv(c.dim(1), 128)])]
pub fn by_hand(
    #[block(128, 64)] a: TensorMap<f16, 2>,
    #[block(64, 128)] b: TensorMap<f16, 2>,
    #[block(128, 128)] c: TensorMapMut<f16, 2>,
) {
    let (m, n) = (block_id(0) * 128, block_id(1) * 128);
    let steps = cdiv(a.dim(1), 64);
    let (sa, sb) = (shared::<f16>([4, 128, 64]), shared::<f16>([4, 64, 128]));
    let full = barriers(4, 1);

    let load = |step: i32| {
        if step < steps {
            let (slot, k) = (step % 4, step * 64);
            full[slot].expect(a.block_bytes() + b.block_bytes());
            tma::load(a, [m, k], full[slot], sa[slot]);
            tma::load(b, [k, n], full[slot], sb[slot]);
        }
    };

    for step in unroll(0..3) {
        load(step);
    }
    let mut acc = zeros::<f32>([128, 128]);
    for step in 0..steps {
        full[step % 4].wait(step / 4 % 2); // a barrier's phases alternate: 0, 1, 0, ..
        acc = wgmma::mma(sa[step % 4], sb[step % 4], acc);
        acc = wgmma::wait(1, acc); // the product before this one is done ..
        sync(); // .. in all warps, so what it read may be overwritten
        load(step + 3);
    }
    acc = wgmma::wait(0, acc);

    let staged = shared::<f16>([128, 128]);
    staged.store(acc.cast::<f16>());
    tma::store(c, [m, n], staged);
    tma::store_wait(0);
}
// ANCHOR_END: by_hand

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
    let mut c = stream.zeros::<f16, 2>([mn, mn])?;
    by_hand(by_hand::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
    assert!(c.to_vec(&stream)? == required, "by hand");
    let report = device.emulator_report().expect("the emulator has run a launch");
    println!("{:>10}  {:>17}", "by hand", report.warp_instructions);
    Ok(())
}
