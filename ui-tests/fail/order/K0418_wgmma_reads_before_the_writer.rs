use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn multiplied_early(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let (sa, sb) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    let full = barrier(1);
    sa.store(a.tile([0, 0], [64, 64]).load());
    warp_specialize(
        || {
            let acc = wgmma::wait(0, wgmma::mma(sa, sb, zeros::<f32>([64, 64])));
            full.wait(0);
            c.tile([0, 0], [64, 64]).store(acc);
        },
        [partition(1).run(|| {
            sb.store(b.tile([0, 0], [64, 64]).load());
            full.arrive();
        })],
    );
}

fn main() {}
