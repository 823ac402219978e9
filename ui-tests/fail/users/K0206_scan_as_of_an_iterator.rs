use kiln::prelude::*;

/// out = the running sums of each row, of at most 128 elements.
#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn running_sums(x: Tensor<i32, 2>, out: TensorMut<i32, 2>) {
    let at = [block_id(0), 0];
    let tile = x.tile(at, [1, 128]).load();
    let sums = tile.scan(0, |sum, v| { *sum += v; Some(*sum) });
    out.tile(at, [1, 128]).store(sums);
}

fn main() {}
