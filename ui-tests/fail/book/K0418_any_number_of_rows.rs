use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn few_rows(#[block(1, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let (rows, full) = (shared::<f32>([4, 1, 64]), barriers(4, 1));
    warp_specialize(
        || {
            for row in 0..x.dim(0) {
                full[row % 4].wait(row / 4 % 2);
                y.tile([row, 0], [1, 64]).store(rows[row % 4].load());
            }
        },
        [partition(1).run(|| {
            for row in 0..x.dim(0) {
                full[row % 4].expect(x.block_bytes());
                tma::load(x, [row, 0], full[row % 4], rows[row % 4]);
            }
        })],
    );
}

fn main() {}
