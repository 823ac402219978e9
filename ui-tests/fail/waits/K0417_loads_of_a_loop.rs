use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = cdiv(x.dim(0), 64))]
pub fn row_sums(#[block(64, 64)] x: TensorMap<f32, 2>, out: TensorMut<f32, 1>) {
    let row = block_id(0) * 64;
    let tile = shared::<f32>([64, 64]);
    let ready = barrier(1);
    let mut total = zeros::<f32>([64]);
    for col in range(0, x.dim(1), 64) {
        ready.expect(tile.bytes());
        tma::load(x, [row, col], ready, tile);
        total = total + tile.load().sum(1);
        sync();
    }
    out.tile([row], [64]).store(total);
}

fn main() {}
