use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn wrong(out: TensorMut<f32, 1>) {
    warp_specialize(|| { setmaxnreg_dec(40); }, [partition(4).run(|| { sync(); })]);
    out.tile([0], [64]).store(zeros([64]));
}

fn main() {}
