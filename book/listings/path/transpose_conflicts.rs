use kiln::prelude::*;

// ANCHOR: direct
/// No shared memory. Each thread writes what it has read: a warp reads 128 bytes of one row, and
/// writes 4 bytes to each of 32 rows.
#[kernel(target = sm_80, warps = 4, grid = [x.dim(0), cdiv(x.dim(1), 128)])]
pub fn direct(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let (row, column) = (block_id(0), block_id(1) * 128);
    out.tile([column, row], [128, 1]).store(x.tile([row, column], [1, 128]).load().t());
}
// ANCHOR_END: direct

// ANCHOR: conflicts
/// Rows of 64 numbers, one after the other: a column is in one bank.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(0), 64), cdiv(x.dim(1), 64)])]
pub fn conflicts(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let (row, column) = (block_id(0) * 64, block_id(1) * 64);
    let tile = shared::<f32>([64, 64]).with_layout(row_major());
    tile.store(x.tile([row, column], [64, 64]).load());
    sync();
    out.tile([column, row], [64, 64]).store(tile.t().load());
}
// ANCHOR_END: conflicts

// ANCHOR: shared
/// The compiler chooses the layout of the tile.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(0), 64), cdiv(x.dim(1), 64)])]
pub fn chosen(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let (row, column) = (block_id(0) * 64, block_id(1) * 64);
    let tile = shared::<f32>([64, 64]);
    tile.store(x.tile([row, column], [64, 64]).load());
    sync();
    out.tile([column, row], [64, 64]).store(tile.t().load());
}
// ANCHOR_END: shared

pub fn main() -> kiln::Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let n = 256;
    let host: Vec<f32> = (0..n * n).map(|i| i as f32).collect();
    let required: Vec<f32> = (0..n * n).map(|i| (i % n * n + i / n) as f32).collect();
    let x = stream.upload(&host, [n, n])?;
    println!("{:>9}  {:>17}  {:>14}", "", "warp instructions", "bank conflicts");
    for name in ["direct", "row_major", "chosen"] {
        let mut out = stream.zeros([n, n])?;
        match name {
            "direct" => direct(direct::Args { x: &x, out: &mut out }).launch(&stream)?,
            "row_major" => conflicts(conflicts::Args { x: &x, out: &mut out }).launch(&stream)?,
            _ => chosen(chosen::Args { x: &x, out: &mut out }).launch(&stream)?,
        }
        assert_eq!(out.to_vec(&stream)?, required);
        // ANCHOR: report
        let report = device.emulator_report().expect("the emulator has run a launch");
        let (instructions, conflicts) = (report.warp_instructions, report.shared_bank_conflicts);
        // ANCHOR_END: report
        println!("{name:>9}  {instructions:>17}  {conflicts:>14}");
    }
    Ok(())
}
