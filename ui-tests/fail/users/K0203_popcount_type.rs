use kiln::prelude::*;

// Wrong: `count_ones` gives `u32`, as in Rust, and is added to a tile of `i32`; right is `.count_ones().cast::<i32>().sum(1)`.
#[kernel(target = sm_80, warps = 4, grid = cdiv(codes.dim(0), 32))]
pub fn wrong(codes: Tensor<u32, 2>, query: Tensor<u32, 1>, distances: TensorMut<i32, 1>) {
    let row = block_id(0) * 32;
    let mut distance = zeros::<i32>([32]);
    for at in range(0, codes.dim(1), 64) {
        let words = codes.tile([row, at], [32, 64]).load();
        let wanted = query.tile([at], [64]).load().expand(0);
        distance += (words ^ wanted).count_ones().sum(1);
    }
    distances.tile([row], [32]).store(distance);
}

fn main() {}
