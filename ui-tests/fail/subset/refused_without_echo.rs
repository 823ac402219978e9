use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(mode: i32, x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    union Mode { a: i32 }
    let (scale, mut sum) = (2.0, zeros([64]));
    match mode {
        0 => sum += 1.0,
        other => sum = full([64], other),
    }
    for i in unroll(0..4) {
        let Some(row) = x.tile([i], [64]).load() else { continue };
        sum += row * scale;
    }
    y.tile([0], [64]).store(sum + Mode::Plain);
}

fn main() {}
