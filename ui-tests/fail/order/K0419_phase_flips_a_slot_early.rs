use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn flips_early(#[block(1, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let (rows, full, empty) = (shared::<f32>([3, 1, 64]), barriers(3, 1), barriers(3, 1));
    warp_specialize(
        || {
            let (mut slot, mut phase) = (0, 0);
            for at in 0..x.dim(0) {
                full[slot].wait(phase);
                y.tile([at, 0], [1, 64]).store(rows[slot].load());
                empty[slot].arrive();
                slot += 1;
                if slot == 2 {
                    phase ^= 1;
                }
                slot %= 3;
            }
        },
        [partition(1).run(|| {
            for at in 0..x.dim(0) {
                empty[at % 3].wait(1 - at / 3 % 2);
                full[at % 3].expect(x.block_bytes());
                tma::load(x, [at, 0], full[at % 3], rows[at % 3]);
            }
        })],
    );
}

fn main() {}
