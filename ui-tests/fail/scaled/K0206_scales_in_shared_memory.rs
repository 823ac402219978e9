use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let (a, b) = (shared::<e4m3>([128, 128]), shared::<e4m3>([128, 128]));
    let acc = tmem::<f32>([128, 128]);
    let of_a = shared::<ue8m0>([128, 4]);
    let of_b = tmem::<ue8m0>([128, 4]);
    let done = barrier(1);
    tcgen05::mma_scaled(a, b.t(), acc, of_a, of_b);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
