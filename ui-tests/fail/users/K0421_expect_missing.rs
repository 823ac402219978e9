use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = cdiv(out.dim(0), 64))]
pub fn wrong(#[block(64, 64)] x: TensorMap<bf16, 2>, out: TensorMut<bf16, 2>) {
    let s = shared::<bf16>([64, 64]);
    let bar = barriers(1, 1);
    tma::load(x, [block_id(0) * 64, 0], bar[0], s);
    bar[0].wait(0);
    out.tile([block_id(0) * 64, 0], [64, 64]).store(s.load());
}

fn main() {}
