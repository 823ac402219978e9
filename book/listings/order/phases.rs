use kiln::prelude::*;

// ANCHOR: kernel
/// Prints whether waits for the two parities would return, as a barrier goes through its phases.
#[kernel(target = sm_90a, warps = 4, grid = 1, debug = always)]
pub fn phases(#[block(64, 32)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let (tile, full) = (shared::<f32>([64, 32]), barrier(1));
    println!("at the start: {} {}", full.try_wait(0), full.try_wait(1));
    for row in unroll(0..2) {
        full.expect(x.block_bytes());
        println!("after expect: {} {}", full.try_wait(0), full.try_wait(1));
        tma::load(x, [64 * row, 0], full, tile);
        full.wait(row);
        println!("after the copy: {} {}", full.try_wait(0), full.try_wait(1));
        y.tile([64 * row, 0], [64, 32]).store(tile.load());
        sync();
    }
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm90a)?.stream()?;
    let x = stream.full([128, 32], 1.0f32)?;
    let mut y = stream.zeros([128, 32])?;
    phases(phases::Args { x: &x, y: &mut y }).launch(&stream)
}
