use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn prefetched(#[block(64, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let (tiles, full) = (shared::<f32>([2, 64, 64]), barriers(2, 1));
    full[0].expect(x.block_bytes());
    tma::load(x, [0, 0], full[0], tiles[0]);
    for step in 0..4 {
        let next = (step + 1) % 2;
        full[next].expect(x.block_bytes());
        tma::load(x, [64 * step + 64, 0], full[next], tiles[next]);
        full[step % 2].wait(step / 2 % 2);
        y.tile([64 * step, 0], [64, 64]).store(tiles[step % 2].load());
    }
}

fn main() {}
