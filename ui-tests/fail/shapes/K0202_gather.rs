use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let x = x.tile([0, 0], [16, 64]).load();
    let of_each_row = x.gather(1, arange(0, 16));
    let same_in_each_row = x.gather(1, arange(0, 32));
    let first = x.gather(1, arange(0, 32).expand(0));
    let turned = x.gather(0, zeros([16, 32]));
    out.tile([0, 0], [16, 32]).store(first);
}

fn main() {}
