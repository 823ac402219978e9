use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Tensor<f32, 2>) {
    let staged = shared::<f32>([64, 128]).with_layout(layout!(S[(64, 128) : (1, 64)]));
    let (held, done) = (tmem::<f32>([128, 64]), barrier(1));
    staged.store(x.tile([0, 0], [64, 128]).load());
    tcgen05::copy(staged.t(), held);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
