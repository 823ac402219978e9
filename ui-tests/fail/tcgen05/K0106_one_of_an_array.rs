use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>, n: i32) {
    let both = array(2, |_| tmem::<f32>([128, 64]));
    for i in 0..n {
        both[i].store(zeros([128, 64]));
    }
    c.tile([0, 0], [128, 64]).store(both[0].load());
}

fn main() {}
