use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances((T, N) = [(f16, 64), (f32, 128)]))]
pub fn clear<T: Float, const N: i32>(x: TensorMut<T, 1>) {
    x.tile([0], [N]).store(zeros([N]));
}

fn run(stream: &Stream, x: &mut DeviceTensor<f32, 1>) -> Result<()> {
    clear::<f32, 64>(clear::Args { x }).launch(stream)
}

fn main() {}
