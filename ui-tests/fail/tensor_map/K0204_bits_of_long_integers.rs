use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn kernel(x: Tensor<i64, 1>, #[block(64)] all: TensorMapMut<i64, 1>) {
    let row = shared::<i64>([64]);
    row.store(x.tile([0], [64]).load());
    tma::reduce_and(all, [0], row);
    tma::store_wait_written(0);
}

fn main() {}
