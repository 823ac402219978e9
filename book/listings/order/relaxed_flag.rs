use kiln::prelude::*;

// ANCHOR: kernel
/// out = the sum of `x`. Each block adds up 1024 elements; the block that comes last adds up what the others have.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
pub fn sum_too_early(
    x: Tensor<f32, 1>,
    parts: TensorMut<f32, 1>,
    come: TensorMut<i32, 1>,
    out: TensorMut<f32, 1>,
) {
    let mine = x.tile([block_id(0) * 1024], [1024]).load().sum(0);
    parts.tile([block_id(0)], [1]).store(mine.expand(0));
    let before = come.tile([0], [1]).atomic_add(full([1], 1)).item();
    if before == num_blocks(0) - 1 {
        let mut total = zeros::<f32>([128]);
        for at in range(0, num_blocks(0), 128) {
            total += parts.tile([at], [128]).load();
        }
        out.tile([0], [1]).store(total.sum(0).expand(0));
    }
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let x = stream.full([100_000], 0.5f32)?;
    let (mut parts, mut come) = (stream.zeros([98])?, stream.zeros([1])?);
    let mut out = stream.zeros([1])?;
    let args = sum_too_early::Args { x: &x, parts: &mut parts, come: &mut come, out: &mut out };
    let launched = sum_too_early(args).launch(&stream);
    println!("{}", launched.expect_err("the emulator reports the race"));
    Ok(())
}
