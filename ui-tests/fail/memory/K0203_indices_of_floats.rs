use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn look_up(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let table = shared::<f32>([256]);
    table.store(x.tile([0], [256]).load());
    sync();
    let at = x.tile([256], [128]).load();
    y.tile([0], [128]).store(table.gather(at));
}

fn main() {}
