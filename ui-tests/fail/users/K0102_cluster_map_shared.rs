use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 2, cluster = 2)]
pub fn wrong(out: TensorMut<f32, 1>) {
    let s = shared::<f32>([64]);
    s.store(full([64], 1.0));
    cluster::sync();
    let other = cluster::map_shared_rank(s, 1);
    out.tile([0], [64]).store(other.load());
    cluster::sync();
}

fn main() {}
