use kiln::prelude::*;

// ANCHOR: kernel
/// sums[b] = the sum of the elements of blocks 0 to b. Each block waits for the one before it.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
pub fn running_sums(x: Tensor<f32, 1>, ready: TensorMut<i32, 1>, sums: TensorMut<f32, 1>) {
    let block = block_id(0);
    let mut sum = x.tile([block * 1024], [1024]).load().sum(0).expand(0);
    if block > 0 {
        while ready.tile([block - 1], [1]).acquire().atomic_load().item() == 0 {}
        sum += sums.tile([block - 1], [1]).load();
    }
    sums.tile([block], [1]).store(sum);
    ready.tile([block], [1]).release().atomic_store(full([1], 1));
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let x = stream.full([4096], 0.5f32)?;
    let (mut ready, mut sums) = (stream.zeros([4])?, stream.zeros([4])?);
    let args = running_sums::Args { x: &x, ready: &mut ready, sums: &mut sums };
    // ANCHOR: launch
    running_sums(args).cooperative().launch(&stream)?;
    // ANCHOR_END: launch
    println!("{:?}", sums.to_vec(&stream)?);
    Ok(())
}
