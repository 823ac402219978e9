use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn table(table: Tensor<Ptr<f32>, 1>, out: TensorMut<f32, 1>) {
    out.tile([0], [128]).store(load(load(table.ptr()) + arange(0, 128)));
}

fn main() {}
