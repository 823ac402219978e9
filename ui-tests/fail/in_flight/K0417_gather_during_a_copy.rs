use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn look_up(#[block(64)] x: TensorMap<f32, 1>, at: Tensor<i32, 1>, y: TensorMut<f32, 1>) {
    let (table, full) = (shared::<f32>([64]), barrier(1));
    full.expect(table.bytes());
    tma::load(x, [0], full, table);
    let indices = at.tile([0], [128]).load();
    y.tile([0], [128]).store(table.gather(indices));
    full.wait(0);
}

fn main() {}
