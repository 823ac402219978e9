use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Tensor<f32, 2>) {
    let staged = shared::<f32>([256, 32]);
    let (held, done) = (tmem::<f32>([256, 64]), barrier(1));
    staged.store(x.tile([0, 0], [256, 32]).load());
    tcgen05::copy(staged, held.tile([0, 32], [256, 32]));
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
