use kiln::prelude::*;

// ANCHOR: kernel
/// One tile of 128 × 128, one step of 64 along `k`.
#[kernel(target = sm_100f, warps = 4, grid = 1)]
pub fn product(
    #[block(128, 64)] a: TensorMap<bf16, 2>,
    #[block(64, 128)] b: TensorMap<bf16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<bf16>([128, 64]), shared::<bf16>([64, 128]));
    let acc = tmem::<f32>([128, 128]);
    let (full, done) = (barrier(1), barrier(1));
    full.expect(a.block_bytes() + b.block_bytes());
    tma::load(a, [0, 0], full, sa);
    tma::load(b, [0, 0], full, sb);
    full.wait(0);
    tcgen05::mma(sa, sb, acc).accumulate(false); // one thread starts it
    tcgen05::commit(done); // the barrier is signalled when it is done
    done.wait(0);
    c.tile([0, 0], [128, 128]).store(acc.load());
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let device = Device::emulator(Target::Sm100a)?;
    let stream = device.stream()?;
    let a = stream.full([128, 64], bf16::from_f32(0.5))?;
    let b = stream.full([64, 128], bf16::from_f32(0.25))?;
    let mut c = stream.zeros([128, 128])?;
    product(product::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
    assert_eq!(c.to_vec(&stream)?, vec![8.0; 128 * 128]);
    println!("{} sums of 64 products, each 8", 128 * 128);
    Ok(())
}
