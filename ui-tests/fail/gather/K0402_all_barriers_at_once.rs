use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn fetch(#[block(1, 64)] x: TensorMap<f16, 2>, rows: Tensor<i32, 1>) {
    let rows = rows.tile([0], [8]).load();
    let (tile, full) = (shared::<f16>([8, 64]), barriers(2, 1));
    tma::gather(x, rows, 0, full, tile);
}

fn main() {}
