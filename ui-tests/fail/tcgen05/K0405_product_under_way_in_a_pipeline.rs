use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let (left, right) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let acc = tmem::<f32>([128, 64]);
    let done = barrier(1);
    acc.store(zeros([128, 64]));
    for k in pipeline(range(0, a.dim(1), 64), 3) {
        copy_async(a.tile([0, k], [128, 64]), left);
        copy_async(b.tile([k, 0], [64, 64]), right);
        tcgen05::mma(left, right, acc);
    }
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 64]).store(acc.load());
}

fn main() {}
