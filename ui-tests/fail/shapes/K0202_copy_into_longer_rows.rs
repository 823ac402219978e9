use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
fn k(x: Tensor<f32, 3>, #[block(4, 16, 32)] heads: TensorMap<f32, 3>, y: TensorMut<f32, 2>) {
    let (held, full) = (shared::<f32>([32, 64]), barrier(1));
    copy_async(x.tile([0, 0, 0], [1, 64, 32]), held);
    copy_async_wait_all();
    full.expect(heads.block_bytes());
    tma::load(heads, [0, 0, 0], full, held);
    full.wait(0);
    y.tile([0, 0], [32, 64]).store(held.load());
}

fn main() {}
