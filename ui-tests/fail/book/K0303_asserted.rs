use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn row_sums(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let tile = x.tile([0, 0], [64, 64]).load();
    let whole_rows = tile.assert_layout(blocked([1, 64], [32, 1], [4, 1], [1, 0]));
    out.tile([0], [64]).store(whole_rows.sum(1));
}

fn main() {}
