use kiln::{Ring, prelude::*};

// ANCHOR: kernel
/// Two blocks of a cluster compute tiles below one another. Each loads its tile of `a`; the first
/// loads the tile of `b` for both.
#[kernel(target = sm_90a, warps = 8, cluster = [2, 1], grid = [2 * cdiv(c.dim(0), 256), cdiv(c.dim(1), 128)],
         instances(STAGES = [4]))]
pub fn matmul<const STAGES: i32>(
    #[block(128, 64)] a: TensorMap<bf16, 2>,
    #[block(64, 128)] b: TensorMap<bf16, 2>,
    c: TensorMut<bf16, 2>,
) {
    let (m, n) = (block_id(0) * 128, block_id(1) * 128);
    let steps = cdiv(a.dim(1), 64);
    let a_bufs = shared::<bf16>([STAGES, 128, 64]);
    let b_bufs = shared::<bf16>([STAGES, 64, 128]);
    let full = barriers(STAGES, 1);
    let empty = barriers(STAGES, 2); // the readers of both blocks arrive
    warp_specialize(
        || {
            let mut ring = Ring::reader(STAGES);
            let mut acc = zeros::<f32>([128, 128]);
            for _ in 0..steps {
                full[ring.slot].wait(ring.phase);
                acc = wgmma::mma(a_bufs[ring.slot], b_bufs[ring.slot], acc);
                acc = wgmma::wait(0, acc);
                for rank in unroll(0..2) {
                    empty[ring.slot].of_block(rank).arrive();
                }
                ring.advance();
            }
            c.tile([m, n], [128, 128]).store(acc.cast::<bf16>());
        },
        [partition(1).registers(40).run(|| {
            let mut ring = Ring::writer(STAGES);
            for step in 0..steps {
                let (full, k) = (full[ring.slot], step * 64);
                empty[ring.slot].wait(ring.phase);
                full.expect(a.block_bytes() + b.block_bytes());
                tma::load(a, [m, k], full, a_bufs[ring.slot]);
                tma::load(b, [k, n], full, b_bufs[ring.slot])
                    .when(cluster::rank() == 0)
                    .multicast(0b11);
                ring.advance();
            }
        })],
    );
    cluster::sync(); // until then the other block arrives at this one's barriers
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let device = Device::emulator(Target::Sm90a)?;
    let stream = device.stream()?;
    let (m, n, k) = (264, 136, 520);
    let a = stream.full([m, k], bf16::from_f32(0.5))?;
    let b = stream.full([k, n], bf16::from_f32(0.25))?;
    let mut c = stream.zeros([m, n])?;
    matmul::<4>(matmul::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
    let c = c.to_vec(&stream)?;
    assert!(c.iter().all(|&sum| sum == bf16::from_f32(65.0)), "520 products of 1/8");
    println!("{} sums of {k} products, each {}", c.len(), c[0]);
    Ok(())
}
