use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn never_told(#[block(32, 64)] x: TensorMap<f16, 2>, y: TensorMut<f16, 3>) {
    let (rank, tile, filled) = (cluster::rank(), shared::<f16>([32, 64]), barrier(1));
    for step in 0..4 {
        filled.expect(tile.bytes());
        if rank == 0 {
            tma::load(x, [0, 64 * step], filled, tile).multicast(0b11);
        }
        filled.wait(step % 2);
        y.tile([rank, 0, 64 * step], [1, 32, 64]).store(tile.load().expand(0));
    }
}

fn main() {}
