use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn four(x: TensorMut<f32, 1>) {
    let mut parts = [zeros::<f32>([128]); 4];
    for i in 0..4 {
        parts[i] = x.tile([i * 128], [128]).load();
    }
    x.tile([0], [128]).store(parts[0] + parts[1] + parts[2] + parts[3]);
}

fn main() {}
