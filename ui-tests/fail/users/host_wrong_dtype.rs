use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn halve(x: TensorMut<f32, 1>) {
    let w = x.tile([block_id(0) * 128], [128]);
    w.store(w.load() * 0.5);
}

fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let mut x = stream.upload(&[1.0, 2.0, 3.0], [3])?;
    let y: DeviceTensor<f64, 1> = stream.zeros([3])?;
    halve(halve::Args { x: &mut y }).launch(&stream)?;
    println!("{:?}", x.to_vec(&stream)?);
    Ok(())
}
