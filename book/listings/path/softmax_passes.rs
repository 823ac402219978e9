use kiln::prelude::*;

// ANCHOR: passes
/// One block a row, `N` elements at a time: one pass for the maximum, one for the sum, one for the result.
#[kernel(target = sm_80, warps = 4, grid = x.dim(0), instances(N = [1024]))]
pub fn in_passes<const N: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = block_id(0);
    let mut top = f32::MIN;
    for at in range(0, x.dim(1), N) {
        let inside = (at + arange(0, N)).lt(x.dim(1));
        let v = x.tile([row, at], [1, N]).load().reshape([N]);
        top = top.max(select(inside, v, f32::MIN).max(0).item());
    }
    let mut total = 0.0f32;
    for at in range(0, x.dim(1), N) {
        let inside = (at + arange(0, N)).lt(x.dim(1));
        let v = x.tile([row, at], [1, N]).load().reshape([N]);
        total += select(inside, (v - top).exp(), 0.0).sum(0).item();
    }
    for at in range(0, x.dim(1), N) {
        let v = x.tile([row, at], [1, N]).load();
        out.tile([row, at], [1, N]).store((v - top).exp() / total);
    }
}
// ANCHOR_END: passes

/// The row stays in registers, and one division makes the factor of the row.
#[kernel(target = sm_80, warps = 4, grid = x.dim(0), instances(N = [4096]))]
pub fn in_registers<const N: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = block_id(0);
    let inside = arange(0, N).expand(0).lt(x.dim(1));
    let v = select(inside, x.tile([row, 0], [1, N]).load(), f32::NEG_INFINITY);
    let p = (v - v.max(1).expand(1)).exp();
    let scale = 1.0 / p.sum(1);
    out.tile([row, 0], [1, N]).store(p * scale.expand(1));
}

pub fn main() -> kiln::Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let (rows, columns) = (4, 4000);
    // Each row has one 0 and else -200, whose exponential is 0 in f32.
    let mut host = vec![-200.0f32; rows * columns];
    for row in 0..rows {
        host[row * columns + 7 * row] = 0.0;
    }
    let required: Vec<f32> = host.iter().map(|&x| if x == 0.0 { 1.0 } else { 0.0 }).collect();
    let x = stream.upload(&host, [rows, columns])?;
    println!("{:>12}  {:>17}", "", "warp instructions");
    let mut out = stream.zeros([rows, columns])?;
    in_passes::<1024>(in_passes::Args { x: &x, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, required);
    let report = device.emulator_report().expect("the emulator has run a launch");
    println!("{:>12}  {:>17}", "in passes", report.warp_instructions);
    let mut out = stream.zeros([rows, columns])?;
    in_registers::<4096>(in_registers::Args { x: &x, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, required);
    let report = device.emulator_report().expect("the emulator has run a launch");
    println!("{:>12}  {:>17}", "in registers", report.warp_instructions);
    Ok(())
}
