use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(n: i32, x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    fn put(at: Ptr<f32>, value: f32) {
        store(at, value);
    }
    put(y.ptr(), load(x.ptr() + n));
    let mut at = y.ptr();
    for i in 0..n {
        put(at + i, 1.0);
        at = x.ptr();
    }
    atomic::add(x.ptr() + n, 1.0);
}

fn main() {}
