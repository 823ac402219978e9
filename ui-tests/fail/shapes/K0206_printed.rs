use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn show(n: i32, x: TensorMut<f32, 1>, shift: Option<i32>) {
    let ready = barrier(1);
    let kept = shared::<f32>([128]);
    println!("{ready:?}");
    println!("{kept:?}");
    println!("{:?} of {n}", x.tile([0], [128]));
    println!("{:?}", shift);
    println!("{:?}", (n, n));
    kept.store(zeros([128]));
}

fn main() {}
