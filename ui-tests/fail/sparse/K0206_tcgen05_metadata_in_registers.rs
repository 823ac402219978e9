use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn product(m: Tensor<u16, 2>) {
    let (a, b) = (shared::<f16>([128, 32]), shared::<f16>([64, 64]));
    let acc = tmem::<f32>([128, 64]);
    let m = m.tile([0, 0], [128, 4]).load();
    tcgen05::mma_sparse(a, m, b, acc);
    let done = barrier(1);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
