use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn stream(#[block(64, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let buf = shared::<f32>([2, 64, 64]);
    let full = barriers(2, 1);
    let empty = barriers(2, 1);
    warp_specialize(
        || {
            for i in range(0, 8, 1) {
                full[i % 2].wait(i / 2 % 2);
                y.tile([i * 64, 0], [64, 64]).store(buf[i % 2].load());
            }
        },
        [partition(1).run(|| {
            for i in range(0, 8, 1) {
                empty[i % 2].wait(i / 2 % 2 ^ 1);
                full[i % 2].expect(x.block_bytes());
                tma::load(x, [i * 64, 0], full[i % 2], buf[i % 2]);
            }
        })],
    );
}

fn main() {}
