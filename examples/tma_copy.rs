//! A tile of 8 × 256 f16 through TMA: from a tensor to shared memory, and back to another tensor.
//!
//! `cargo run --release --example tma_copy`

#![expect(
    clippy::print_stdout,
    reason = "an example prints, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

/// b = a, by way of shared memory with the 128-byte swizzle: one thread starts a copy each way.
#[kernel(target = [sm_90a, sm_100f], warps = 1, grid = [cdiv(a.dim(0), 8), cdiv(a.dim(1), 256)])]
pub fn tma_copy(a: Tensor<f16, 2>, b: TensorMut<f16, 2>) {
    let at = [block_id(0) * 8, block_id(1) * 256];
    let staged = shared::<f16>([8, 256]).with_layout(swizzle(128));
    let arrived = barrier(1);
    arrived.expect(staged.bytes());
    copy_async(a.tile(at, [8, 256]), staged).on(arrived); // completes on a barrier: TMA
    arrived.wait(0);
    copy_async(staged, b.tile(at, [8, 256]));
    tma::store_wait(0);
}

fn main() -> Result<()> {
    let device = Device::best_for(tma_copy::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    // The last tiles reach over the edges: zeros come in, nothing goes out.
    let rows = 203;
    for columns in [1024, 1000] {
        let host: Vec<f16> = (0u16..2000)
            .cycle()
            .take(rows * columns)
            .map(|i| f16::from_f32(f32::from(i)))
            .collect();
        let a = stream.upload(&host, [rows, columns])?;
        let mut b = stream.full([rows, columns], f16::NAN)?;
        let launch = tma_copy(tma_copy::Args { a: &a, b: &mut b });
        // Whole columns of the swizzle make one box of three dimensions; others are copied column by column.
        let boxes = launch.ptx(&device)?.matches("cp.async.bulk.tensor.").count();
        launch.launch(&stream)?;
        assert!(b.to_vec(&stream)? == host, "the copy is no copy");
        println!("{rows} x {columns} halves copied, {} instructions each way", boxes / 2);
    }
    Ok(())
}
