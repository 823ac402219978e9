use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn clear(x: TensorMut<f32, 1>) {
    x.tile([0], [32]).store(zeros([32]));
}

fn run(stream: &Stream, x: &mut DeviceTensor<f32, 1>) -> Result<()> {
    clear(clear::Args { x: &mut x.slice(0, 0..32)? }).launch(stream)
}

fn main() {}
