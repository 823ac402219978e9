use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn one_more(#[block(1, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let slots = shared::<f32>([2, 1, 64]);
    let (full, empty) = (barriers(2, 1), barriers(2, 1));
    warp_specialize(
        || {
            for row in 0..9 {
                full[row % 2].wait(row / 2 % 2);
                y.tile([row, 0], [1, 64]).store(slots[row % 2].load());
                empty[row % 2].arrive();
            }
        },
        [partition(1).run(|| {
            for row in 0..8 {
                empty[row % 2].wait(1 - row / 2 % 2);
                full[row % 2].expect(x.block_bytes());
                tma::load(x, [row, 0], full[row % 2], slots[row % 2]);
            }
        })],
    );
}

fn main() {}
