use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Tensor<f32, 2>) {
    let (held, done) = (tmem::<f32>([128, 64]), barrier(1));
    copy_async(x.tile([0, 0], [128, 64]), held);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
