use kiln::prelude::*;

// Wrong: every iteration waits for parity 0, which from the second one on is a phase that has ended long ago; right is `let mut phase = 0;` before the loop, and `arrived.wait(phase); phase ^= 1;` in it.
#[kernel(target = sm_90a, warps = 4, grid = cdiv(x.dim(0), 64))]
pub fn wrong(#[block(64, 128)] x: TensorMap<f32, 2>, sums: TensorMut<f32, 1>) {
    let row = block_id(0) * 64;
    let staged = shared::<f32>([64, 128]);
    let arrived = barrier(1);
    let mut total = zeros::<f32>([64]);
    for column in range(0, x.dim(1), 128) {
        arrived.expect(x.block_bytes());
        tma::load(x, [row, column], arrived, staged);
        arrived.wait(0);
        total += staged.load().sum(1);
        sync(); // everyone has read the tile
    }
    sums.tile([row], [64]).store(total);
}

fn main() {}
