use kiln::prelude::*;

// ANCHOR: naive
/// A column of `a` and a row of `b` at a time, multiplied by `fma`.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 64)])]
pub fn naive(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f16, 2>) {
    let (m, n) = (block_id(0) * 64, block_id(1) * 64);
    let mut acc = zeros::<f32>([64, 64]);
    for k in 0..a.dim(1) {
        let column = a.tile([m, k], [64, 1]).load().cast::<f32>();
        let row = b.tile([k, n], [1, 64]).load().cast::<f32>();
        acc = fma(column, row, acc);
    }
    c.tile([m, n], [64, 64]).store(acc.cast::<f16>());
}
// ANCHOR_END: naive

// ANCHOR: waiting
/// Tiles in shared memory, and the tensor cores.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 64)])]
pub fn waiting(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f16, 2>) {
    let (m, n) = (block_id(0) * 64, block_id(1) * 64);
    let (sa, sb) = (shared::<f16>([64, 32]), shared::<f16>([32, 64]));
    let mut acc = zeros::<f32>([64, 64]);
    for k in range(0, a.dim(1), 32) {
        copy_async(a.tile([m, k], [64, 32]), sa);
        copy_async(b.tile([k, n], [32, 64]), sb);
        copy_async_wait_all();
        sync();
        acc = dot(sa, sb, acc);
        sync();
    }
    c.tile([m, n], [64, 64]).store(acc.cast::<f16>());
}
// ANCHOR_END: waiting

// ANCHOR: ahead
/// The copies of the next two steps are in flight while this one is multiplied.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 64)])]
pub fn ahead(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f16, 2>) {
    let (m, n) = (block_id(0) * 64, block_id(1) * 64);
    let (sa, sb) = (shared::<f16>([64, 32]), shared::<f16>([32, 64]));
    let mut acc = zeros::<f32>([64, 64]);
    for k in pipeline(range(0, a.dim(1), 32), 3) {
        copy_async(a.tile([m, k], [64, 32]), sa);
        copy_async(b.tile([k, n], [32, 64]), sb);
        acc = dot(sa, sb, acc);
    }
    c.tile([m, n], [64, 64]).store(acc.cast::<f16>());
}
// ANCHOR_END: ahead

pub fn main() -> kiln::Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let n = 256;
    // Row i of the product is i / 2 % 4 in each place: 256 terms of i % 8 / 1024.
    let rows: Vec<f16> = (0..n * n).map(|at| f16::from_f32((at / n % 8) as f32 / 1024.0)).collect();
    let required: Vec<f16> = (0..n * n).map(|at| f16::from_f32((at / n % 8) as f32 / 4.0)).collect();
    let (a, b) = (stream.upload(&rows, [n, n])?, stream.full([n, n], f16::from_f32(1.0))?);
    println!("{:>7}  {:>17}  {:>14}", "", "warp instructions", "bank conflicts");
    for name in ["naive", "waiting", "ahead"] {
        let mut c = stream.zeros::<f16, 2>([n, n])?;
        match name {
            "naive" => naive(naive::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?,
            "waiting" => waiting(waiting::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?,
            _ => ahead(ahead::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?,
        }
        assert!(c.to_vec(&stream)? == required, "{name}");
        let report = device.emulator_report().expect("the emulator has run a launch");
        let (instructions, conflicts) = (report.warp_instructions, report.shared_bank_conflicts);
        println!("{name:>7}  {instructions:>17}  {conflicts:>14}");
    }
    Ok(())
}
