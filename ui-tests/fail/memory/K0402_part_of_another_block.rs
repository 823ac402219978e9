use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn rows(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let s = shared::<f32>([64, 64]);
    s.store(x.tile([0, 0], [64, 64]).load());
    sync();
    cluster::sync();
    y.tile([0, 0], [16, 64]).store(s.of_block(cluster::rank() ^ 1).tile([16, 0], [16, 64]).load());
}

fn main() {}
