use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn fetch(#[block(1, 64)] x: TensorMap<f16, 2>, rows: Tensor<i32, 1>, y: TensorMut<f16, 2>) {
    let rows = rows.tile([0], [128]).load().to_layout(blocked([1], [32], [4], [0]));
    let tile = shared::<f16>([128, 64]);
    let full = barrier(1);
    full.expect(128 * x.block_bytes());
    tma::gather(x, rows, 0, full, tile);
    full.wait(0);
    y.tile([0, 0], [128, 64]).store(tile.load());
}

fn main() {}
