//! out = x by way of shared and tensor memory: every layout from which `tcgen05::copy` fills blocks of 128 rows.
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
    target = sm_100a,
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

type Make = for<'a> fn(through::Args<'a>) -> Launch<'a>;

/// The instances: of a tile, the columns of a block and the bytes of the swizzle.
macro_rules! instances {
    ($($m:literal $n:literal: $($bn:literal $swizzle:literal),*;)*) => {
        [$(($m, $n, vec![$(($bn, $swizzle, through::<$m, $n, $bn, $swizzle> as Make)),*])),*]
    };
}

fn main() -> Result<()> {
    let device = Device::best_for(through::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let all = instances!(
        128 16: 1 32, 1 64, 2 32, 2 64, 4 32, 4 64, 8 32, 8 64, 16 32, 16 64;
        128 32: 1 32, 1 64, 1 128, 2 32, 2 64, 2 128, 4 32, 4 64, 4 128, 8 32, 8 64, 8 128, 16 32, 16 64, 16 128, 32 32, 32 64, 32 128;
        128 64: 1 32, 1 64, 1 128, 2 32, 2 64, 2 128, 4 32, 4 64, 4 128, 8 32, 8 64, 8 128, 16 32, 16 64, 16 128, 32 32, 32 64, 32 128, 64 32, 64 64, 64 128;
        128 128: 1 32, 1 64, 1 128, 2 32, 2 64, 2 128, 4 32, 4 64, 4 128, 8 32, 8 64, 8 128, 16 32, 16 64, 16 128, 32 32, 32 64, 32 128, 64 32, 64 64, 64 128, 128 32, 128 64, 128 128;
        128 256: 1 32, 1 64, 1 128, 2 32, 2 64, 2 128, 4 32, 4 64, 4 128, 8 32, 8 64, 8 128, 16 32, 16 64, 16 128, 32 32, 32 64, 32 128, 64 32, 64 64, 64 128, 128 32, 128 64, 128 128, 256 32, 256 64, 256 128;
        256 16: 8 32, 16 32, 16 64;
        256 32: 8 32, 16 32, 16 64, 32 32, 32 64, 32 128;
        256 64: 8 32, 16 32, 16 64, 32 32, 32 64, 32 128, 64 32, 64 64, 64 128;
        256 128: 8 32, 16 32, 16 64, 32 32, 32 64, 32 128, 64 32, 64 64, 64 128, 128 32, 128 64, 128 128;
    );
    let mut copied = 0;
    for (rows, columns, instances) in all {
        if !asked(rows, columns) {
            continue;
        }
        let shape = [rows, columns].map(|extent: i32| extent.unsigned_abs() as usize);
        let host = numbers::<f32>(shape[0] * shape[1], 0);
        let x = stream.upload(&host, shape)?;
        for (block, swizzle, make) in instances {
            let mut out = stream.full(shape, f32::NAN)?;
            make(through::Args { x: &x, out: &mut out }).launch(&stream)?;
            assert!(
                bits(&out.to_vec(&stream)?) == bits(&host),
                "{rows} x {columns} in blocks of {block} columns, swizzle of {swizzle} bytes"
            );
            copied += 1;
        }
        println!("{rows} x {columns}");
    }
    println!("{copied} copies, every bit compared");
    Ok(())
}
