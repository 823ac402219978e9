use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512))]
pub fn scale(x: TensorMut<f32, 1>) {
    #[unroll]
    for i in 0..4 {
        let w = x.tile([block_id(0) * 512 + i * 128], [128]);
        w.store(w.load() * 2.0);
    }
}

fn main() {}
