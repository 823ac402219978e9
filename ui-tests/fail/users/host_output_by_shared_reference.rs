// Rust: Adds a constant to a vector. The written tensor is passed as `&out`; an argument for a `TensorMut` is `&mut`.
// RIGHT: shift::<256>(shift::Args { x: &x, by: 1.5, out: &mut out }).launch(&stream)?;
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), N), instances(N = [256]))]
pub fn shift<const N: i32>(x: Tensor<f32, 1>, by: f32, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * N];
    out.tile(at, [N]).store(x.tile(at, [N]).load() + by);
}

fn main() -> Result<()> {
    let device = Device::best_for(shift::TARGETS)?;
    let stream = device.stream()?;
    let x = stream.upload(&[1.0f32, 2.0, 3.0], [3])?;
    let mut out = stream.zeros::<f32, 1>([3])?;
    shift::<256>(shift::Args { x: &x, by: 1.5, out: &out }).launch(&stream)?;
    println!("{:?}", out.to_vec(&stream)?);
    Ok(())
}
