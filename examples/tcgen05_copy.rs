//! out = x through shared and tensor memory: every layout from which `tcgen05::copy` fills blocks of 128 rows.
//!
//! `cargo run --release --example tcgen05_copy [-- M N]`

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "an example prints, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

#[path = "support/tiles.rs"]
mod tiles;
use tiles::{asked, bits, numbers};

/// `BN` columns of a block of tensor memory, a swizzle of `SWIZZLE` bytes in shared memory.
///
/// Of tiles of more than 64 KiB, the registers of four warps do not hold all elements at once: eight read them.
///
/// What the list leaves out has no instruction: of 256 rows, blocks narrower than a span of the swizzle (K0307), and rows
/// narrower than that (K0301).
#[kernel(
    target = sm_100f,
    warps = if M * N > 128 * 128 { 8 } else { 4 },
    grid = [1],
    instances((M, N, BN, SWIZZLE) = [
        (128, 16, 1, 32), (128, 16, 1, 64), (128, 16, 2, 32), (128, 16, 2, 64), (128, 16, 4, 32), (128, 16, 4, 64), (128, 16, 8, 32), (128, 16, 8, 64), (128, 16, 16, 32), (128, 16, 16, 64),
        (128, 32, 1, 32), (128, 32, 1, 64), (128, 32, 1, 128), (128, 32, 2, 32), (128, 32, 2, 64), (128, 32, 2, 128), (128, 32, 4, 32), (128, 32, 4, 64), (128, 32, 4, 128), (128, 32, 8, 32), (128, 32, 8, 64), (128, 32, 8, 128), (128, 32, 16, 32), (128, 32, 16, 64), (128, 32, 16, 128), (128, 32, 32, 32), (128, 32, 32, 64), (128, 32, 32, 128),
        (128, 64, 1, 32), (128, 64, 1, 64), (128, 64, 1, 128), (128, 64, 2, 32), (128, 64, 2, 64), (128, 64, 2, 128), (128, 64, 4, 32), (128, 64, 4, 64), (128, 64, 4, 128), (128, 64, 8, 32), (128, 64, 8, 64), (128, 64, 8, 128), (128, 64, 16, 32), (128, 64, 16, 64), (128, 64, 16, 128), (128, 64, 32, 32), (128, 64, 32, 64), (128, 64, 32, 128), (128, 64, 64, 32), (128, 64, 64, 64), (128, 64, 64, 128),
        (128, 128, 1, 32), (128, 128, 1, 64), (128, 128, 1, 128), (128, 128, 2, 32), (128, 128, 2, 64), (128, 128, 2, 128), (128, 128, 4, 32), (128, 128, 4, 64), (128, 128, 4, 128), (128, 128, 8, 32), (128, 128, 8, 64), (128, 128, 8, 128), (128, 128, 16, 32), (128, 128, 16, 64), (128, 128, 16, 128), (128, 128, 32, 32), (128, 128, 32, 64), (128, 128, 32, 128), (128, 128, 64, 32), (128, 128, 64, 64), (128, 128, 64, 128), (128, 128, 128, 32), (128, 128, 128, 64), (128, 128, 128, 128),
        (128, 256, 1, 32), (128, 256, 1, 64), (128, 256, 1, 128), (128, 256, 2, 32), (128, 256, 2, 64), (128, 256, 2, 128), (128, 256, 4, 32), (128, 256, 4, 64), (128, 256, 4, 128), (128, 256, 8, 32), (128, 256, 8, 64), (128, 256, 8, 128), (128, 256, 16, 32), (128, 256, 16, 64), (128, 256, 16, 128), (128, 256, 32, 32), (128, 256, 32, 64), (128, 256, 32, 128), (128, 256, 64, 32), (128, 256, 64, 64), (128, 256, 64, 128), (128, 256, 128, 32), (128, 256, 128, 64), (128, 256, 128, 128), (128, 256, 256, 32), (128, 256, 256, 64), (128, 256, 256, 128),
        (256, 16, 8, 32), (256, 16, 16, 32), (256, 16, 16, 64),
        (256, 32, 8, 32), (256, 32, 16, 32), (256, 32, 16, 64), (256, 32, 32, 32), (256, 32, 32, 64), (256, 32, 32, 128),
        (256, 64, 8, 32), (256, 64, 16, 32), (256, 64, 16, 64), (256, 64, 32, 32), (256, 64, 32, 64), (256, 64, 32, 128), (256, 64, 64, 32), (256, 64, 64, 64), (256, 64, 64, 128),
        (256, 128, 8, 32), (256, 128, 16, 32), (256, 128, 16, 64), (256, 128, 32, 32), (256, 128, 32, 64), (256, 128, 32, 128), (256, 128, 64, 32), (256, 128, 64, 64), (256, 128, 64, 128), (256, 128, 128, 32), (256, 128, 128, 64), (256, 128, 128, 128)
    ])
)]
fn through<const M: i32, const N: i32, const BN: i32, const SWIZZLE: i32>(
    x: Tensor<f32, 2>,
    out: TensorMut<f32, 2>,
) {
    let staged = shared::<f32>([M, N]).with_layout(swizzle(SWIZZLE));
    let held = tmem::<f32>([M, N]).with_layout(tmem_block([128, BN], 1));
    let copied = barrier(1);
    staged.store(x.tile([0, 0], [M, N]).load());
    tcgen05::copy(staged, held);
    tcgen05::commit(copied);
    copied.wait(0);
    out.tile([0, 0], [M, N]).store(held.load());
}

fn main() -> Result<()> {
    let device = Device::best_for(through::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let mut tiles: Vec<[i32; 2]> = through::instances().map(|one| [one.M, one.N]).collect();
    tiles.dedup();
    let mut copied = 0;
    for [rows, columns] in tiles {
        if !asked(rows, columns) {
            continue;
        }
        let shape = [rows, columns].map(|extent: i32| extent.unsigned_abs() as usize);
        let host = numbers::<f32>(shape[0] * shape[1], 0);
        let x = stream.upload(&host, shape)?;
        for one in through::instances().filter(|one| [one.M, one.N] == [rows, columns]) {
            let mut out = stream.full(shape, f32::NAN)?;
            one.with(through::Args { x: &x, out: &mut out }).launch(&stream)?;
            assert!(
                bits(&out.to_vec(&stream)?) == bits(&host),
                "{rows} x {columns} in blocks of {} columns, swizzle of {} bytes",
                one.BN,
                one.SWIZZLE
            );
            copied += 1;
        }
        println!("{rows} x {columns}");
    }
    println!("{copied} copies, every bit compared");
    Ok(())
}
