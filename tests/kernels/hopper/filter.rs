//! What is under each tap of a filter with two strides, paddings and dilations, at places of three images: blocks begin anywhere, before the
//! first place too, and go on in the next image.
//@ run: eval, emulate, gpu
//@ grid: 6
//@ compare: exact
//@ arg x: bf16[3, 9, 7, 64] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ arg y: bf16[6, 6, 64, 64] poison
//@ expect y: if 25 * i + k - 40 >= 0 && 25 * i + k - 40 < 105 { if (25 * i + k - 40) / 7 % 5 * 2 - 1 + j / 2 >= 0 && (25 * i + k - 40) / 7 % 5 * 2 - 1 + j / 2 < 9 && (25 * i + k - 40) % 7 - 2 + j % 2 * 4 >= 0 && (25 * i + k - 40) % 7 - 2 + j % 2 * 4 < 7 { x((25 * i + k - 40) / 35, (25 * i + k - 40) / 7 % 5 * 2 - 1 + j / 2, (25 * i + k - 40) % 7 - 2 + j % 2 * 4, l) } else { 0 } } else { 0 }
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 4, grid = 6)]
pub fn filter(
    #[block(64, 1, 1, 64, filter = [3, 2], stride = [2, 1], padding = [1, 2], dilation = [1, 4])]
    x: TensorMap<bf16, 4>,
    y: TensorMut<bf16, 4>,
) {
    let tile = shared::<bf16>([64, 64]);
    let full = barrier(1);
    for tap in range(0, 6, 1) {
        full.expect(x.block_bytes());
        tma::load(x, [block_id(0) * 25 - 40, tap / 2, tap % 2, 0], full, tile);
        full.wait(tap % 2);
        y.tile([block_id(0), tap, 0, 0], [1, 1, 64, 64]).store(tile.load().reshape([1, 1, 64, 64]));
        sync();
    }
}
