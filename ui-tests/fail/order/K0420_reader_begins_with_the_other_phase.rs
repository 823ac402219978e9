use kiln::{Ring, prelude::*};

#[kernel(target = sm_90a, warps = 4)]
pub fn reads_at_once(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let slots = shared::<f32>([2, 1, 64]);
    let (full, empty) = (barriers(2, 1), barriers(2, 1));
    warp_specialize(
        || {
            let mut ring = Ring::writer(2);
            for row in 0..x.dim(0) {
                full[ring.slot].wait(ring.phase);
                y.tile([row, 0], [1, 64]).store(slots[ring.slot].load());
                empty[ring.slot].arrive();
                ring.advance();
            }
        },
        [partition(1).run(|| {
            let mut ring = Ring::writer(2);
            for row in 0..x.dim(0) {
                empty[ring.slot].wait(ring.phase);
                slots[ring.slot].store(x.tile([row, 0], [1, 64]).load());
                full[ring.slot].arrive();
                ring.advance();
            }
        })],
    );
}

fn main() {}
