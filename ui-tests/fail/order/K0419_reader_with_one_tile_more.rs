use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn one_tile_more(x: Tensor<f32, 2>, y: TensorMut<f32, 2>, rows: i32) {
    let slot = shared::<f32>([1, 64]);
    let (full, empty) = (barrier(1), barrier(1));
    warp_specialize(
        || {
            for row in 0..rows + 1 {
                full.wait(row % 2);
                y.tile([row, 0], [1, 64]).store(slot.load());
                empty.arrive();
            }
        },
        [partition(1).run(|| {
            for row in 0..rows {
                empty.wait(1 - row % 2);
                slot.store(x.tile([row, 0], [1, 64]).load());
                full.arrive();
            }
        })],
    );
}

fn main() {}
