//! A kernel in the body of a function, a private kernel, and one that is only built.

use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
fn private(x: TensorMut<f32, 1>) {
    x.tile([block_id(0) * 128], [128]).store(full([128], 1.0));
}

fn inner(stream: &Stream, x: &mut DeviceTensor<f32, 1>) -> Result<()> {
    #[kernel(target = sm_80, warps = 4, grid = 1, instances(N = [64]))]
    fn twice<const N: i32>(x: TensorMut<f32, 1>) {
        let window = x.tile([0], [N]);
        window.store(window.load() * 2.0);
    }
    twice::<64>(twice::Args { x }).launch(stream)
}

fn main() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let mut x = stream.zeros::<f32, 1>([200])?;
    private(private::Args { x: &mut x }).launch(&stream)?;
    inner(&stream, &mut x)?;
    let host = x.to_vec(&stream)?;
    assert_eq!((host[0], host[63], host[64], host[199]), (2.0, 2.0, 1.0, 1.0));
    Ok(())
}
