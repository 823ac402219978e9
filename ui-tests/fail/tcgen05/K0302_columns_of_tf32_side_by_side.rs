use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let (a, b) = (shared::<f32>([128, 32]), shared::<f32>([32, 64]));
    let acc = tmem::<f32>([128, 64]);
    let done = barrier(1);
    tcgen05::mma(a, b, acc);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 64]).store(zeros([128, 64]));
}

fn main() {}
