//! out = x through tensor memory with a copy for every warp: rows that `tcgen05.cp` copies to the tensor memory of all four warps.
//!
//! `cargo run --release --example tcgen05_copy_replica`

#![expect(
    clippy::print_stdout,
    reason = "an example prints, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

/// The 32 rows of tensor memory that each warp reaches hold the 32 rows of the tile: `R[4 : 32 @ TLane]` says so, and
/// `32x128b.warpx4` copies them there, 16 bytes of each row at a time.
#[kernel(target = sm_100f, warps = 4, grid = [1], instances((T, N) = [(u8, 16), (u8, 64), (u32, 4), (u32, 32)]))]
fn replicate<T: Scalar, const N: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let staged = shared::<T>([32, N]);
    let held = tmem::<T>([32, N])
        .with_layout(layout!(S[(32, N) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]));
    let copied = barrier(1);
    staged.store(x.tile([0, 0], [32, N]).load());
    copy_async(staged, held);
    tcgen05::commit(copied);
    copied.wait(0);
    out.tile([0, 0], [32, N]).store(held.load());
}

/// Copies numbers of an instance, and compares them.
macro_rules! check {
    ($stream:ident, $ty:ty, $n:literal) => {{
        let shape = [32, $n];
        let host: Vec<$ty> = (0..).map(|i: u16| (i % 251) as $ty).take(32 * $n).collect();
        let x = $stream.upload(&host, shape)?;
        let mut out = $stream.full(shape, <$ty>::MAX)?;
        replicate::<$ty, $n>(replicate::Args { x: &x, out: &mut out }).launch(&$stream)?;
        assert!(out.to_vec(&$stream)? == host, "32 x {} of {}", $n, stringify!($ty));
        println!("32 x {} of {}: copied to all warps, every bit compared", $n, stringify!($ty));
    }};
}

fn main() -> Result<()> {
    let device = Device::best_for(replicate::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    check!(stream, u8, 16);
    check!(stream, u8, 64);
    check!(stream, u32, 4);
    check!(stream, u32, 32);
    Ok(())
}
