use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn multiplied(
    #[block(64, 64)] a: TensorMap<f16, 2>,
    #[block(64, 64)] b: TensorMap<f16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    let (full, empty) = (barrier(1), barrier(1));
    warp_specialize(
        || {
            let mut acc = zeros::<f32>([64, 64]);
            for k in 0..a.dim(1) / 64 {
                full.wait(k % 2);
                acc = wgmma::mma(sa, sb, acc);
                empty.arrive();
                acc = wgmma::wait(0, acc);
            }
            c.tile([0, 0], [64, 64]).store(acc);
        },
        [partition(1).run(|| {
            for k in 0..a.dim(1) / 64 {
                empty.wait(1 - k % 2);
                full.expect(a.block_bytes() + b.block_bytes());
                tma::load(a, [0, 64 * k], full, sa);
                tma::load(b, [64 * k, 0], full, sb);
            }
        })],
    );
}

fn main() {}
