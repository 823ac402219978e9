use kiln::prelude::*;

// ANCHOR: kernel
/// out[b] = the sum of the rows of `x`, in both blocks of a cluster. Block 0 copies each row to both.
#[kernel(target = sm_90a, warps = 4, grid = 2, cluster = 2)]
pub fn sums_twice(#[block(1, 64)] x: TensorMap<f32, 2>, out: TensorMut<f32, 2>) {
    let row = shared::<f32>([1, 64]);
    let (full, empty) = (barrier(1), barrier(2)); // a reader in each of two blocks
    let (mut sum, mut phase) = (zeros::<f32>([1, 64]), 0);
    for i in 0..x.dim(0) {
        full.expect(x.block_bytes());
        if cluster::rank() == 0 {
            empty.wait(phase ^ 1);
            tma::load(x, [i, 0], full, row).multicast(0b11);
        }
        full.wait(phase);
        sum += row.load();
        empty.of_block(0).arrive();
        phase ^= 1;
    }
    out.tile([cluster::rank(), 0], [1, 64]).store(sum);
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm90a)?.stream()?;
    let x = stream.full([5, 64], 0.5f32)?;
    let mut out = stream.zeros([2, 64])?;
    sums_twice(sums_twice::Args { x: &x, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [2.5; 128]);
    println!("both blocks have the sum of 5 rows");
    Ok(())
}
