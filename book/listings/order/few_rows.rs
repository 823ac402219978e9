use kiln::prelude::*;

// ANCHOR: kernel
/// y = x, of at most four rows: each has a buffer of its own.
#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn few_rows(#[block(1, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    device_assert(x.dim(0) <= 4);
    let (rows, full) = (shared::<f32>([4, 1, 64]), barriers(4, 1));
    warp_specialize(
        || {
            for row in 0..x.dim(0) {
                full[row % 4].wait(row / 4 % 2);
                y.tile([row, 0], [1, 64]).store(rows[row % 4].load());
            }
        },
        [partition(1).run(|| {
            for row in 0..x.dim(0) {
                full[row % 4].expect(x.block_bytes());
                tma::load(x, [row, 0], full[row % 4], rows[row % 4]);
            }
        })],
    );
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm90a)?.stream()?;
    for rows in [4, 5] {
        let x = stream.full([rows, 64], 1.0f32)?;
        let mut y = stream.zeros([rows, 64])?;
        match few_rows(few_rows::Args { x: &x, y: &mut y }).launch(&stream) {
            Ok(()) => println!("{rows} rows are copied"),
            Err(error) => println!("{error}"),
        }
    }
    Ok(())
}
