use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(N = [64, 128]))]
pub fn clear<const N: i32>(x: TensorMut<f32, 1>) {
    x.tile([0], [N]).store(zeroes([N]));
}

fn run(stream: &Stream, x: &mut DeviceTensor<f32, 1>) -> Result<()> {
    clear::<64>(clear::Args { x }).launch(stream)
}

fn main() {}
