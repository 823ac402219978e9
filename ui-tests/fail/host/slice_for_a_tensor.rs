use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 128))]
pub fn double(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 128];
    out.tile(at, [128]).store(x.tile(at, [128]).load() * 2.0);
}

fn run(stream: &Stream, x: &[f32], out: &mut Vec<f32>) -> Result<()> {
    double(double::Args { x: &x, out }).launch(stream)
}

fn main() {}
