use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Tensor<f32, 1>) {
    let staged = shared::<f32>([128, 64]);
    let held = tmem::<f32>([128, 64]);
    let done = barrier(1);
    for row in 0..128 {
        staged[row].store(x.tile([64 * row], [64]).load());
    }
    tcgen05::copy(staged, held);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
