use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn one_left_out(
    #[block(64, 64)] a: TensorMap<f32, 2>,
    #[block(64, 64)] b: TensorMap<f32, 2>,
    c: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<f32>([2, 64, 64]), shared::<f32>([64, 64]));
    let full = barrier(1);
    warp_specialize(
        || {
            for step in 0..2 {
                full.wait(step);
                c.tile([64 * step, 0], [64, 64]).store(left[step].load() + right.load());
            }
        },
        [partition(1).run(|| {
            for step in 0..2 {
                full.expect(a.block_bytes() + b.block_bytes());
                tma::load(a, [64 * step, 0], full, left[step]);
                tma::load(b, [0, 0], full, right).when(step == 0);
            }
        })],
    );
}

fn main() {}
