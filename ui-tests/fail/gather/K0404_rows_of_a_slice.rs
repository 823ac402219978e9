use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
fn k(#[block(1, 64)] x: TensorMap<f16, 2>, n: i32, y: TensorMut<f16, 2>) {
    let (held, full) = (shared::<f16>([64, 64]), barrier(1));
    full.expect(64 * x.block_bytes());
    tma::gather(x.slice((..n, ..)), arange(0, 64), 0, full, held);
    full.wait(0);
    y.tile([0, 0], [64, 64]).store(held.load());
}

fn main() {}
