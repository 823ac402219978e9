//! Long: Each barrier has clocks of its own.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 8)]
pub fn thousands_of_barriers(y: TensorMut<f32, 1>) {
    let (a, b, c, d) = (barriers(1024, 1), barriers(1024, 1), barriers(1024, 1), barriers(1024, 1));
    a[0].arrive();
    b[0].arrive();
    c[0].arrive();
    d[0].arrive();
    a[0].wait(0);
    b[0].wait(0);
    c[0].wait(0);
    d[0].wait(0);
    y.tile([0], [128]).store(zeros([128]));
}
