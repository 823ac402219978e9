use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn multiplied(
    #[block(64, 64)] a: TensorMap<f16, 2>,
    #[block(64, 64)] b: TensorMap<f16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<f16>([2, 64, 64]), shared::<f16>([2, 64, 64]));
    let (full, empty) = (barriers(2, 1), barriers(2, 1));
    warp_specialize(
        || {
            let mut acc = zeros::<f32>([64, 64]);
            for k in 0..8 {
                full[k % 2].wait(k / 2 % 2);
                acc = wgmma::mma(sa[k % 2], sb[k % 2], acc);
                acc = wgmma::wait(1, acc);
                empty[k % 2].arrive();
            }
            c.tile([0, 0], [64, 64]).store(wgmma::wait(0, acc));
        },
        [partition(1).run(|| {
            for k in 0..8 {
                empty[k % 2].wait(1 - k / 2 % 2);
                full[k % 2].expect(a.block_bytes() + b.block_bytes());
                tma::load(a, [0, 64 * k], full[k % 2], sa[k % 2]);
                tma::load(b, [64 * k, 0], full[k % 2], sb[k % 2]);
            }
        })],
    );
}

fn main() {}
