use kiln::prelude::*;

// ANCHOR: kernel
/// out = xᵀ. The threads start the copy, and could do something else before they wait.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn turned(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let tile = shared::<f32>([64, 64]);
    copy_async(x.tile([0, 0], [64, 64]), tile);
    copy_async_wait_all(); // this thread's part is there
    sync(); // so are those of all others
    out.tile([0, 0], [64, 64]).store(tile.t().load());
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let host: Vec<f32> = (0..64 * 64u16).map(f32::from).collect();
    let x = stream.upload(&host, [64, 64])?;
    let mut out = stream.zeros([64, 64])?;
    turned(turned::Args { x: &x, out: &mut out }).launch(&stream)?;
    let out = out.to_vec(&stream)?;
    let required: Vec<f32> = (0..64 * 64).map(|at| host[at % 64 * 64 + at / 64]).collect();
    assert_eq!(out, required);
    println!("the first row is 0, 64, 128: {:?}", &out[..3]);
    Ok(())
}
