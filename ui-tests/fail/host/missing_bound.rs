use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, f32], N = [64, 128]))]
pub fn clear<T: Float, const N: i32>(x: TensorMut<T, 1>) {
    x.tile([0], [N]).store(zeros([N]));
}

fn run<T: Element, const N: i32>(stream: &Stream, x: &mut DeviceTensor<T, 1>) -> Result<()> {
    clear::<T, N>(clear::Args { x }).launch(stream)
}

fn main() {}
