use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn column_sums(#[block(1, 64)] x: TensorMap<f32, 2>, out: TensorMut<f32, 1>) {
    let rows = shared::<f32>([4, 1, 64]);
    let (full, empty) = (barriers(4, 1), barriers(4, 1));
    warp_specialize(
        || {
            let mut sum = zeros::<f32>([64]);
            for row in 0..x.dim(0) {
                full[row % 4].wait(row / 4 % 2);
                sum += rows[row % 4].load().sum(0);
            }
            out.tile([0], [64]).store(sum);
        },
        [partition(1).run(|| {
            for row in 0..x.dim(0) {
                empty[row % 4].wait(1 - row / 4 % 2);
                full[row % 4].expect(x.block_bytes());
                tma::load(x, [row, 0], full[row % 4], rows[row % 4]);
            }
        })],
    );
}

fn main() {}
