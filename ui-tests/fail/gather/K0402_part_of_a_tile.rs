use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn fetch(#[block(1, 64)] x: TensorMap<f16, 2>, rows: Tensor<i32, 1>) {
    let rows = rows.tile([0], [8]).load();
    let (tile, full) = (shared::<f16>([16, 64]), barrier(1));
    full.expect(8 * x.block_bytes());
    tma::gather(x, rows, 0, full, tile.tile([0, 0], [8, 64]));
    full.wait(0);
}

fn main() {}
