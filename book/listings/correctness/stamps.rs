use kiln::{
    Ring,
    prelude::*,
    sched::{Grouped, Persistent, Schedule},
};

// ANCHOR: kernel
/// Persistent blocks of tiles of 128 × 256. One warp copies, two warpgroups multiply.
#[kernel(target = sm_90a, warps = 8, grid = persistent(cdiv(c.dim(0), 128) * cdiv(c.dim(1), 256)), instances(STAGES = [3]))]
pub fn matmul<const STAGES: i32>(
    #[block(128, 64)] a: TensorMap<bf16, 2>,
    #[block(64, 256)] b: TensorMap<bf16, 2>,
    #[block(128, 256)] c: TensorMapMut<bf16, 2>,
) {
    let tiles = Persistent::<Grouped<16>>::new(cdiv(c.dim(0), 128), cdiv(c.dim(1), 256));
    let steps = cdiv(a.dim(1), 64);
    let a_bufs = shared::<bf16>([STAGES, 128, 64]);
    let b_bufs = shared::<bf16>([STAGES, 64, 256]);
    let staged = shared::<bf16>([128, 256]);
    let (full, empty) = (barriers(STAGES, 1), barriers(STAGES, 1));
    warp_specialize(
        || {
            let mut ring = Ring::reader(STAGES);
            for i in 0..tiles.count() {
                let (row, column) = tiles.tile(i);
                let mut acc = zeros::<f32>([128, 256]);
                let mut before = ring.slot;
                for step in 0..steps {
                    stamp!("wait for operands");
                    full[ring.slot].wait(ring.phase);
                    stamp!("multiply");
                    acc = wgmma::mma(a_bufs[ring.slot], b_bufs[ring.slot], acc);
                    acc = wgmma::wait(1, acc); // the product before this one is done
                    if step > 0 {
                        empty[before].arrive();
                    }
                    before = ring.slot;
                    ring.advance();
                }
                stamp!("last product");
                acc = wgmma::wait(0, acc);
                empty[before].arrive();
                stamp!("store");
                tma::store_wait(0); // the tile before this one has left `staged`
                staged.store(acc.cast::<bf16>());
                fence_async();
                tma::store(c, [row * 128, column * 256], staged);
            }
            tma::store_wait(0);
            stamp!("end");
        },
        [partition(1).registers(40).run(|| {
            let mut ring = Ring::writer(STAGES);
            for i in 0..tiles.count() {
                let (row, column) = tiles.tile(i);
                for step in 0..steps {
                    stamp!("wait for a free place");
                    empty[ring.slot].wait(ring.phase);
                    stamp!("start copies");
                    full[ring.slot].expect(a.block_bytes() + b.block_bytes());
                    tma::load(a, [row * 128, step * 64], full[ring.slot], a_bufs[ring.slot]);
                    tma::load(b, [step * 64, column * 256], full[ring.slot], b_bufs[ring.slot]);
                    ring.advance();
                }
            }
            stamp!("end");
        })],
    );
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let device = Device::best_for(matmul::TARGETS)?;
    let stream = device.stream()?;
    let n: u16 = if device.is_emulator() { 264 } else { 4096 };
    let shape = [usize::from(n); 2];
    let a = stream.full(shape, bf16::from_f32(0.5))?;
    let b = stream.full(shape, bf16::from_f32(0.25))?;
    let mut c = stream.zeros(shape)?;
    // With `KILN_PROFILE` the first eight launches are profiled; after them there are none of its stamps.
    for _ in 0..if device.is_emulator() { 1 } else { 20 } {
        matmul::<3>(matmul::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
    }
    let sum = bf16::from_f32(f32::from(n) / 8.0);
    let c_host = c.to_vec(&stream)?;
    assert!(c_host.iter().all(|&one| one == sum), "{n} products of 1/8");
    println!("{} sums of {n} products, each {sum}", c_host.len());
    if !device.is_emulator() {
        let begin = stream.record()?;
        for _ in 0..20 {
            matmul::<3>(matmul::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
        }
        let end = stream.record()?;
        end.synchronize()?;
        println!("{:.1} us a launch without stamps", begin.elapsed_ms(&end)? * 1000.0 / 20.0);
    }
    Ok(())
}
