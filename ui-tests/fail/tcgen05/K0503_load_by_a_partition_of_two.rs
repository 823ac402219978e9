use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let held = tmem::<f32>([128, 64]);
    let full = barrier(1);
    warp_specialize(
        || {
            held.store(zeros([128, 64]));
            full.arrive();
        },
        [partition(2).run(|| {
            full.wait(0);
            c.tile([0, 0], [128, 64]).store(held.load());
        })],
    );
}

fn main() {}
