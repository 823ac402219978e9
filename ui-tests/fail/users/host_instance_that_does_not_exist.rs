// Rust: Tanh of a vector, launched with tiles of 512. The kernel was compiled for N = 1024 and 2048 alone.
// RIGHT: tanh_all::<1024>(tanh_all::Args { x: &x, out: &mut out }).launch(&stream)?;
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), N), instances(N = [1024, 2048]))]
pub fn tanh_all<const N: i32>(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * N];
    out.tile(at, [N]).store(x.tile(at, [N]).load().tanh());
}

fn main() -> Result<()> {
    let device = Device::best_for(tanh_all::TARGETS)?;
    let stream = device.stream()?;
    let x = stream.upload(&[0.5f32; 300], [300])?;
    let mut out = stream.zeros::<f32, 1>([300])?;
    tanh_all::<512>(tanh_all::Args { x: &x, out: &mut out }).launch(&stream)?;
    println!("{:?}", out.to_vec(&stream)?);
    Ok(())
}
