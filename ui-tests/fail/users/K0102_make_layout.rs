use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(out: TensorMut<f16, 2>) {
    let l = make_layout(make_shape(64, 64), make_stride(64, 1));
    let s = shared::<f16>([64, 64]).with_layout(l);
    out.tile([0, 0], [64, 64]).store(s.load());
}

fn main() {}
