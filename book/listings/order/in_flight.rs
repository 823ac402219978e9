use kiln::prelude::*;

// ANCHOR: kernel
/// Copies two rows to shared memory, and stores the one that `which` names.
#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn one_of_two(
    #[block(1, 64)] x: TensorMap<f32, 2>,
    which: Tensor<i32, 1>,
    y: TensorMut<f32, 2>,
) {
    let (rows, full) = (shared::<f32>([2, 1, 64]), barriers(2, 1));
    for row in unroll(0..2) {
        full[row].expect(x.block_bytes());
        tma::load(x, [row, 0], full[row], rows[row]);
    }
    full[0].wait(0);
    y.tile([0, 0], [1, 64]).store(rows[which.tile([0], [1]).load().item()].load());
    full[1].wait(0);
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm90a)?.stream()?;
    let x = stream.full([2, 64], 1.0f32)?;
    let mut y = stream.zeros([1, 64])?;
    for row in [0, 1] {
        let which = stream.upload(&[row], [1])?;
        let args = one_of_two::Args { x: &x, which: &which, y: &mut y };
        match one_of_two(args).launch(&stream) {
            Ok(()) => println!("row {row} is stored"),
            Err(error) => println!("{error}"),
        }
    }
    Ok(())
}
