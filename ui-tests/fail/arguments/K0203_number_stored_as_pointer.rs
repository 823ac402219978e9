use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn table(table: TensorMut<Ptr<f32>, 1>) {
    table.tile([0], [128]).store(zeros::<u64>([128]));
}

fn main() {}
