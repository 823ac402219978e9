use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
fn k(x: Tensor<f32, 2>, rows: i32, count: i64, y: TensorMut<f32, 2>) {
    let extents = x.slice([rows, 64]);
    let wide = x.slice([0..count, 0..64]);
    y.tile([0, 0], [64, 64]).store(extents.tile([0, 0], [64, 64]).load());
    y.tile([64, 0], [64, 64]).store(wide.tile([0, 0], [64, 64]).load());
    for _ in ..rows {
        sync();
    }
}

fn main() {}
