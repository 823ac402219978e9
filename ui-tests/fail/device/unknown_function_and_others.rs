//! A name that nobody knows holds back what may come from it, and nothing else.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn k(n: i32, x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let v = x.tile([0], [64]).load();
    let mut len = 63;
    let open = zeros([64]);
    let same = open;
    let mut count = || len += 1;
    let w = nowhere(v, open, &mut count);
    // Not certain: what `nowhere` gives, and what it may settle or change.
    let shifted = w + arange(0, 32);
    let settled = same.exp();
    let sized = zeros::<f32>([len]);
    if elsewhere(n) {
        y.tile([0], [100]).store(zeros([100]));
    }
    // Certain.
    x.tile([0], [64]).store(v);
    for i in 0..n {
        let less = nowhere(v);
        let wrong = v + arange(0, 64);
        let one = less + wrong;
    }
    y.tile([0], [32]).store(v);
}

#[kernel(target = sm_80, warps = 4)]
pub fn written_out(y: TensorMut<f32, 1>) {
    let table = array(2, |_| 1.0);
    for i in unroll(0..4) {
        if i >= limit(y) {
            break;
        }
        // Nobody knows how far it comes.
        y.tile([i], [1]).store(full([1], table[i]));
    }
}

fn main() {}
