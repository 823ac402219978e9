use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, f32], N = [64, 128]))]
pub fn clear<T: Float, const N: i32>(x: TensorMut<T, 1>) {
    x.tile([0], [N]).store(zeros([N]));
}

fn wide(stream: &Stream, x: &mut DeviceTensor<f32, 1>) -> Result<()> {
    let wide = clear::find(|one| one.M == 128 && one.T == "f32")?;
    clear::Values { N: 128 }.find()?;
    wide.with(x).launch(stream)
}

fn main() {}
