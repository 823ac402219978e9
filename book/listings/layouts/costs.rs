use kiln::prelude::*;

// ANCHOR: kernels
const ROWS: Layout = blocked([1, 4], [8, 4], [4, 1], [1, 0]);

/// Registers of one thread in another order: nothing moves.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn renamed(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let tile = x.tile([0, 0], [64, 16]).load().to_layout(ROWS);
    let other = linear(
        [[32, 0], [0, 1], [0, 2]],
        [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]],
        [[8, 0], [16, 0]],
        [64, 16],
    );
    out.tile([0, 0], [64, 16]).store(tile.to_layout(other).map(|v| v + 1.0).to_layout(ROWS));
}

/// Lanes of one warp exchange what they hold.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn between_lanes(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let tile = x.tile([0, 0], [64, 16]).load().to_layout(ROWS);
    let pairs = blocked([1, 2], [8, 4], [4, 1], [1, 0]);
    out.tile([0, 0], [64, 16]).store(tile.to_layout(pairs).map(|v| v + 1.0).to_layout(ROWS));
}

/// Warps exchange what they hold.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn between_warps(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let tile = x.tile([0, 0], [64, 16]).load().to_layout(ROWS);
    let columns = blocked([4, 1], [4, 8], [4, 1], [0, 1]);
    out.tile([0, 0], [64, 16]).store(tile.to_layout(columns).map(|v| v + 1.0).to_layout(ROWS));
}
// ANCHOR_END: kernels

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let host: Vec<f32> = (0..1024u16).map(f32::from).collect();
    let required: Vec<f32> = host.iter().map(|v| v + 1.0).collect();
    let x = stream.upload(&host, [64, 16])?;
    let mut out = stream.zeros([64, 16])?;
    macro_rules! show {
        ($kernel:ident) => {{
            let launch = $kernel($kernel::Args { x: &x, out: &mut out });
            let ptx = launch.ptx(stream.device())?;
            launch.launch(&stream)?;
            assert_eq!(out.to_vec(&stream)?, required);
            let [shuffles, stores, barriers] =
                ["shfl.sync", "st.shared", "bar.sync"].map(|name| ptx.matches(name).count());
            println!(
                "{}: {shuffles} shfl.sync, {stores} st.shared, {barriers} bar.sync",
                stringify!($kernel)
            );
        }};
    }
    show!(renamed);
    show!(between_lanes);
    show!(between_warps);
    Ok(())
}
