//! The sums of two warpgroups leave in parts of 64 columns: two staging tiles take turns, one of which is filled while the other is
//! stored by tensor map.
//@ run: eval, emulate, gpu
//@ no-conflicts
//@ snapshot: ptx
//@ compare: exact
//@ arg a: bf16[120, 64] list(1, -2, 3, 0, 2, -1, 1, -3, 1, 0, -1)
//@ arg b: bf16[64, 248] list(-1, 2, 0, 1, 1, -2, 1)
//@ arg c: bf16[120, 248] poison
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 8, grid = 1)]
pub fn epilogue_in_parts(
    #[block(128, 64)] a: TensorMap<bf16, 2>,
    #[block(64, 256)] b: TensorMap<bf16, 2>,
    #[block(128, 64)] c: TensorMapMut<bf16, 2>,
) {
    /// The left and the right half of the columns.
    fn halves(tile: Tile<bf16>) -> (Tile<bf16>, Tile<bf16>) {
        let half = tile.dim(1) / 2;
        tile.reshape([tile.dim(0), 2, half]).permute([0, 2, 1]).split()
    }

    let (sa, sb) = (shared::<bf16>([128, 64]), shared::<bf16>([64, 256]));
    let staged = shared::<bf16>([2, 128, 64]);
    let full = barrier(1);
    full.expect(a.block_bytes() + b.block_bytes());
    tma::load(a, [0, 0], full, sa);
    tma::load(b, [0, 0], full, sb);
    full.wait(0);
    let acc = wgmma::wait(0, wgmma::mma(sa, sb, zeros::<f32>([128, 256])));
    let store = |i: i32, part: Tile<bf16>| {
        tma::store_wait(1); // the part before the last has left its tile
        staged[i & 1].store(part);
        fence_async();
        tma::store(c, [0, 64 * i], staged[i & 1]);
    };
    let (left, right) = halves(acc.cast::<bf16>());
    let (first, second) = halves(left);
    let (third, fourth) = halves(right);
    store(0, first);
    store(1, second);
    store(2, third);
    store(3, fourth);
    tma::store_wait(0);
}
