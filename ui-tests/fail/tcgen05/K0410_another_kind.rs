use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(steps: i32) {
    let (a, b) = (shared::<f16>([128, 64]), shared::<f16>([64, 128]));
    let (x, y) = (shared::<e4m3>([128, 64]), shared::<e4m3>([64, 128]));
    let acc = tmem::<f32>([128, 128]);
    let done = barrier(1);
    for step in 0..steps {
        if step % 2 == 0 {
            tcgen05::mma(a, b, acc);
        } else {
            tcgen05::mma(x, y, acc);
        }
    }
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
