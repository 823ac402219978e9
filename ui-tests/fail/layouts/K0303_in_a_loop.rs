use kiln::prelude::*;

/// The load in the loop is by rows: the assertion does not turn it into columns.
#[kernel(target = sm_80, warps = 4)]
pub fn sums(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    const COLUMNS: Layout = blocked([1, 1], [32, 1], [1, 4], [1, 0]);
    let mut acc = zeros::<f32>([64, 128]);
    for i in 0..3 {
        acc = (acc + x.tile([64 * i, 0], [64, 128]).load()).assert_layout(COLUMNS);
    }
    out.tile([0, 0], [64, 128]).store(acc);
}

fn main() {}
