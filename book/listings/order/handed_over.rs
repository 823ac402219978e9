use kiln::prelude::*;

// ANCHOR: kernel
/// y = the running sums of the rows of `x`. One warp adds them up, four store them.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn running_sums(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let row = shared::<f32>([1, 64]);
    let (filled, free) = (named_barrier(5), named_barrier(5)); // one warp and four
    warp_specialize(
        || {
            for at in 0..x.dim(0) {
                filled.sync();
                y.tile([at, 0], [1, 64]).store(row.load());
                free.arrive();
            }
        },
        [partition(1).run(|| {
            let mut sum = zeros::<f32>([1, 64]);
            for at in 0..x.dim(0) {
                sum += x.tile([at, 0], [1, 64]).load();
                row.store(sum);
                filled.arrive();
                free.sync();
            }
        })],
    );
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let x = stream.full([5, 64], 0.5f32)?;
    let mut y = stream.zeros([5, 64])?;
    running_sums(running_sums::Args { x: &x, y: &mut y }).launch(&stream)?;
    let sums = y.to_vec(&stream)?;
    println!("the first column: {:?}", sums.iter().step_by(64).collect::<Vec<_>>());
    Ok(())
}
