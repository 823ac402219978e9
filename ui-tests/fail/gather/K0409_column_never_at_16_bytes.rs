use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn fetch(#[block(1, 64)] x: TensorMap<f16, 2>, rows: Tensor<i32, 1>) {
    let rows = rows.tile([0], [8]).load();
    let tile = shared::<f16>([8, 64]);
    let full = barrier(1);
    full.expect(8 * x.block_bytes());
    tma::gather(x, rows, 64 * block_id(0) + 12, full, tile);
    full.wait(0);
}

fn main() {}
