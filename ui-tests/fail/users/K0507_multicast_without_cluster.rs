use kiln::prelude::*;

// Wrong: the kernel has no clusters, whose size CUDA takes at the launch; right is `cluster = [2, 1]` in the attribute.
#[kernel(target = sm_90a, warps = 4, grid = [2 * cdiv(c.dim(0), 128), cdiv(c.dim(1), 128)])]
pub fn wrong(
    #[block(64, 64)] a: TensorMap<bf16, 2>,
    #[block(64, 128)] b: TensorMap<bf16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (m, n) = (block_id(0) * 64, block_id(1) * 128);
    let (sa, sb) = (shared::<bf16>([64, 64]), shared::<bf16>([64, 128]));
    let ready = barrier(1);
    let (mut acc, mut phase) = (zeros::<f32>([64, 128]), 0);
    for k in range(0, a.dim(1), 64) {
        ready.expect(a.block_bytes() + b.block_bytes());
        tma::load(a, [m, k], ready, sa);
        tma::load(b, [k, n], ready, sb).multicast(0b11).when(cluster::rank() == 0);
        ready.wait(phase);
        phase ^= 1;
        acc = dot(sa, sb, acc);
        cluster::sync(); // both blocks are done with their tiles
    }
    c.tile([m, n], [64, 128]).store(acc);
}

fn main() {}
