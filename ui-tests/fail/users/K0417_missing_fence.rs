use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = cdiv(x.dim(0), 64))]
pub fn wrong(x: Tensor<bf16, 2>, #[block(64, 64)] out: TensorMapMut<bf16, 2>) {
    let s = shared::<bf16>([64, 64]);
    s.store(x.tile([block_id(0) * 64, 0], [64, 64]).load());
    sync();
    tma::store(out, [block_id(0) * 64, 0], s);
    s.store(x.tile([block_id(0) * 64, 64], [64, 64]).load());
    sync();
    tma::store(out, [block_id(0) * 64, 64], s);
    tma::store_wait(0);
}

fn main() {}
