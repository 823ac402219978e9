use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(a: Tensor<f16, 2>, c: TensorMut<f32, 2>, count: i32) {
    let (left, right) = (shared::<f16>([128, 32]), shared::<f16>([32, 32]));
    let first = shared::<f32>([128, 32]);
    let acc = tmem::<f32>([128, 32]);
    let done = barrier(1);
    first.store(full([128, 32], 1.0));
    tcgen05::copy(first, acc);
    for step in 0..count {
        left.store(a.tile([0, 0], [128, 32]).load());
        right.store(a.tile([0, 0], [32, 32]).load());
        sync();
        tcgen05::mma(left, right, acc);
        tcgen05::commit(done);
        done.wait(step % 2);
    }
    c.tile([0, 0], [128, 32]).store(acc.load());
}

#[kernel(target = sm_100a, warps = 4)]
pub fn leaves(first: TensorMut<f32, 2>, c: TensorMut<f32, 2>, count: i32) {
    let staged = shared::<f32>([128, 32]);
    let acc = tmem::<f32>([128, 32]);
    let done = barrier(1);
    staged.store(first.tile([0, 0], [128, 32]).load());
    tcgen05::copy(staged, acc);
    for step in 0..2 {
        if step < count {
            continue;
        }
        tcgen05::commit(done);
        done.wait(step);
    }
    c.tile([0, 0], [128, 32]).store(acc.load());
}

fn main() {}
