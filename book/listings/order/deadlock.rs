use kiln::prelude::*;

// ANCHOR: kernel
/// Copies as many rows as `count` says. How many that is, only the launch knows.
#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn counted(
    #[block(1, 64)] x: TensorMap<f32, 2>,
    count: Tensor<i32, 1>,
    y: TensorMut<f32, 2>,
) {
    let rows = shared::<f32>([2, 1, 64]);
    let (full, empty) = (barriers(2, 1), barriers(2, 1));
    warp_specialize(
        || {
            for row in 0..count.tile([0], [1]).load().item() {
                full[row % 2].wait(row / 2 % 2);
                y.tile([row, 0], [1, 64]).store(rows[row % 2].load());
                empty[row % 2].arrive();
            }
        },
        [partition(1).run(|| {
            for row in 0..x.dim(0) {
                empty[row % 2].wait(1 - row / 2 % 2);
                full[row % 2].expect(x.block_bytes());
                tma::load(x, [row, 0], full[row % 2], rows[row % 2]);
            }
        })],
    );
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm90a)?.stream()?;
    let x = stream.full([5, 64], 1.0f32)?;
    let mut y = stream.zeros([8, 64])?;
    for rows in [5, 6] {
        let count = stream.upload(&[rows], [1])?;
        let launched = counted(counted::Args { x: &x, count: &count, y: &mut y }).launch(&stream);
        match launched {
            Ok(()) => println!("{rows} rows are copied"),
            Err(error) => println!("{error}"),
        }
    }
    Ok(())
}
