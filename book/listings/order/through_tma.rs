use kiln::prelude::*;

// ANCHOR: kernel
/// y = 2 · x, 64 rows at a time.
#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn double(#[block(64, 32)] x: TensorMap<f32, 2>, #[block(64, 32)] y: TensorMapMut<f32, 2>) {
    let tile = shared::<f32>([64, 32]);
    let full = barrier(1);
    let mut phase = 0;
    for row in range(0, x.dim(0), 64) {
        full.expect(x.block_bytes());
        tma::load(x, [row, 0], full, tile);
        full.wait(phase);
        phase ^= 1;
        tile.store(tile.load() * 2.0);
        tma::store(y, [row, 0], tile);
        tma::store_wait(0);
    }
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm90a)?.stream()?;
    let host: Vec<f32> = (0..200 * 32u16).map(f32::from).collect();
    let x = stream.upload(&host, [200, 32])?;
    let mut y = stream.zeros([200, 32])?;
    let launch = double(double::Args { x: &x, y: &mut y });
    let fences = launch.ptx(stream.device())?.matches("fence.proxy.async").count();
    launch.launch(&stream)?;
    let required: Vec<f32> = host.iter().map(|x| x * 2.0).collect();
    assert_eq!(y.to_vec(&stream)?, required);
    println!("200 rows are doubled; the PTX has {fences} fence.proxy.async");
    Ok(())
}
