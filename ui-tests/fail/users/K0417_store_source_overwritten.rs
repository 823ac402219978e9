use kiln::prelude::*;

// Wrong: the next iteration writes `staged` while the TMA store of this one may still read it; right is `tma::store_wait(0)` before `staged.store(..)`.
#[kernel(target = sm_90a, warps = 4, grid = cdiv(x.dim(0), 64))]
pub fn wrong(x: Tensor<f32, 2>, scale: f32, #[block(64, 64)] out: TensorMapMut<f16, 2>) {
    let row = block_id(0) * 64;
    let staged = shared::<f16>([64, 64]);
    for column in range(0, x.dim(1), 64) {
        let tile = x.tile([row, column], [64, 64]).load() * scale;
        staged.store(tile.cast::<f16>());
        fence_async();
        tma::store(out, [row, column], staged);
    }
    tma::store_wait(0);
}

fn main() {}
