use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn look_up(x: Tensor<f32, 2>, y: TensorMut<f32, 1>) {
    let table = shared::<f32>([16, 32]);
    table.store(x.tile([0, 0], [16, 32]).load());
    sync();
    y.tile([0], [16]).store(table.gather(arange(0, 16)));
}

fn main() {}
