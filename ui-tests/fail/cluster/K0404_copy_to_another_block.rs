use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn give(x: Tensor<f32, 1>) {
    let (from, to) = (shared::<f32>([128]), shared::<f32>([128]));
    from.store(x.tile([0], [128]).load());
    let full = barrier(1);
    full.expect(to.bytes());
    copy_async(from, to.of_block(cluster::rank() ^ 1)).on(full);
    full.wait(0);
}

fn main() {}
