use kiln::prelude::*;

// ANCHOR: kernel
use kiln::Ring;

/// out = the sum of the rows of `x`. One warp copies rows, four add them up.
#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn column_sums(#[block(1, 64)] x: TensorMap<f32, 2>, out: TensorMut<f32, 1>) {
    let rows = shared::<f32>([4, 1, 64]);
    let (full, empty) = (barriers(4, 1), barriers(4, 1));
    warp_specialize(
        || {
            let mut ring = Ring::reader(4);
            let mut sum = zeros::<f32>([64]);
            for _ in 0..x.dim(0) {
                full[ring.slot].wait(ring.phase);
                sum += rows[ring.slot].load().sum(0);
                empty[ring.slot].arrive();
                ring.advance();
            }
            out.tile([0], [64]).store(sum);
        },
        [partition(1).run(|| {
            let mut ring = Ring::writer(4);
            for row in 0..x.dim(0) {
                empty[ring.slot].wait(ring.phase);
                full[ring.slot].expect(x.block_bytes());
                tma::load(x, [row, 0], full[ring.slot], rows[ring.slot]);
                ring.advance();
            }
        })],
    );
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm90a)?.stream()?;
    for rows in [0u8, 1, 3, 4, 5, 100] {
        let x = stream.full([usize::from(rows), 64], 0.5f32)?;
        let mut out = stream.zeros([64])?;
        column_sums(column_sums::Args { x: &x, out: &mut out }).launch(&stream)?;
        assert_eq!(out.to_vec(&stream)?, [f32::from(rows) * 0.5; 64]);
    }
    println!("the sums of 0, 1, 3, 4, 5 and 100 rows are right");
    Ok(())
}
