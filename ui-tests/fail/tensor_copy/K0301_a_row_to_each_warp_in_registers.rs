use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let rows = x.tile([0, 0], [4, 16]).load();
    let rows = rows.to_layout(layout!(S[(4, 16) : (32 @ TLane, 1 @ TCol)]));
    y.tile([0, 0], [4, 16]).store(rows);
}

fn main() {}
