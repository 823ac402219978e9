use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn send(x: Tensor<f32, 1>) {
    let (part, parts, full) = (shared::<f32>([256]), shared::<f32>([256]), barrier(1));
    part.store(x.tile([0], [256]).load());
    full.expect(parts.bytes());
    bulk::send(part, full, parts.of_block(1 - cluster::rank()));
    part.store(x.tile([256], [256]).load());
    full.wait(0);
}

fn main() {}
