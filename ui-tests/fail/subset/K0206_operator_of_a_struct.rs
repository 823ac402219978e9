use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    struct Pair {
        a: Tile<f32>,
        b: Tile<f32>,
    }
    let v = x.tile([0], [64]).load();
    let p = Pair { a: v, b: v };
    let q = Pair { a: v, b: v * 2.0 };
    let sum = p + q;
    let scaled = p * 2.0;
    out.tile([0], [64]).store(sum.a + scaled.b);
}

fn main() {}
