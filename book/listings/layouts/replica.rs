use kiln::prelude::*;

// ANCHOR: kernel
/// 32 rows go to the tensor memory of all four warps, and back.
#[kernel(target = sm_100f, warps = 4, grid = 1)]
pub fn replicate(x: Tensor<u32, 2>, out: TensorMut<u32, 2>) {
    let copies = layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]);
    let staged = shared::<u32>([32, 16]);
    let held = tmem::<u32>([32, 16]).with_layout(copies);
    let copied = barrier(1);
    staged.store(x.tile([0, 0], [32, 16]).load());
    copy_async(staged, held);
    tcgen05::commit(copied);
    copied.wait(0);
    out.tile([0, 0], [32, 16]).store(held.load());
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm100f)?.stream()?;
    let host: Vec<u32> = (0..512).collect();
    let x = stream.upload(&host, [32, 16])?;
    let mut out = stream.zeros([32, 16])?;
    replicate(replicate::Args { x: &x, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, host);
    println!("512 numbers went through tensor memory");
    Ok(())
}
