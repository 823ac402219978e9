use kiln::prelude::*;

// ANCHOR: kernel
/// c += a · b, of 128 × 64 sums. The blocks of a pair have 64 rows each, and share each 64 rows of `b`.
#[kernel(target = sm_90a, warps = 4, grid = 2, cluster = 2)]
pub fn add_product(
    #[block(64, 64)] a: TensorMap<bf16, 2>,
    #[block(64, 64)] b: TensorMap<bf16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<bf16>([2, 64, 64]), shared::<bf16>([2, 64, 64]));
    let (full, empty) = (barriers(2, 1), barriers(2, 2)); // a reader in each of two blocks
    let m = cluster::rank() * 64;
    warp_specialize(
        || {
            let mut acc = zeros::<f32>([64, 64]);
            for step in 0..cdiv(a.dim(1), 64) {
                let slot = step % 2;
                full[slot].wait(step / 2 % 2);
                acc = wgmma::wait(0, wgmma::mma(left[slot], right[slot], acc));
                for rank in unroll(0..2) {
                    empty[slot].of_block(rank).arrive_relaxed();
                }
            }
            let sums = c.tile([m, 0], [64, 64]);
            sums.store(sums.load() + acc);
        },
        [partition(1).run(|| {
            for step in 0..cdiv(a.dim(1), 64) {
                let (slot, k) = (step % 2, step * 64);
                empty[slot].wait(1 - step / 2 % 2);
                full[slot].expect(a.block_bytes() + b.block_bytes());
                tma::load(a, [m, k], full[slot], left[slot]);
                tma::load(b, [k, 0], full[slot], right[slot]).when(cluster::rank() == 0).multicast(0b11);
            }
        })],
    );
    cluster::sync();
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm90a)?.stream()?;
    let a = stream.full([128, 320], bf16::from_f32(0.5))?;
    let b = stream.full([320, 64], bf16::from_f32(2.0))?;
    let mut c = stream.full([128, 64], 3.0f32)?;
    add_product(add_product::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
    assert_eq!(c.to_vec(&stream)?, vec![323.0; 128 * 64]);
    println!("each element is 3 + 320");
    Ok(())
}
