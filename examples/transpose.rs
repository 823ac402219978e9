//! out = xᵀ: rows are read and columns written, both in whole lines of memory.
//!
//! `cargo run --release --example transpose [-- ROWS COLUMNS]`

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "an example prints, measures in f64, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

#[path = "support/report.rs"]
mod report;

// ANCHOR: kernels
/// One block a tile of `N` × `N`. What is read along rows is held along columns when it is stored: the compiler sees
/// that the layouts differ, and converts through shared memory. Neighbouring blocks write neighbouring columns, so that
/// the stores, which nobody waits for, fill whole pages of memory.
#[kernel(target = sm_80, warps = W, grid = [cdiv(x.dim(0), N), cdiv(x.dim(1), N)],
         instances(T = [f16, f32], (N, W) = [(128, 4), (128, 8)]))]
pub fn transpose<T: Number, const N: i32, const W: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let (row, column) = (block_id(0) * N, block_id(1) * N);
    out.tile([column, row], [N, N]).store(x.tile([row, column], [N, N]).load().t());
}

/// The same with the tile in shared memory by name.
#[kernel(target = sm_80, warps = W, grid = [cdiv(x.dim(0), N), cdiv(x.dim(1), N)],
         instances(T = [f16, f32], (N, W) = [(64, 4), (64, 8)]))]
pub fn transpose_shared<T: Number, const N: i32, const W: i32>(
    x: Tensor<T, 2>,
    out: TensorMut<T, 2>,
) {
    let (row, column) = (block_id(0) * N, block_id(1) * N);
    let tile = shared::<T>([N, N]);
    tile.store(x.tile([row, column], [N, N]).load());
    sync();
    out.tile([column, row], [N, N]).store(tile.t().load());
}
// ANCHOR_END: kernels

/// The launch of an instance.
type Make<T> = for<'a> fn(&'a DeviceTensor<T, 2>, &'a mut DeviceTensor<T, 2>) -> Launch<'a>;

/// The instances for an element type.
macro_rules! instances {
    ($ty:ty) => {
        [
            ("128, 4 warps", |x, out| transpose::<$ty, 128, 4>(transpose::Args { x, out })),
            ("128, 8 warps", |x, out| transpose::<$ty, 128, 8>(transpose::Args { x, out })),
            ("shared 64, 4 warps", |x, out| {
                transpose_shared::<$ty, 64, 4>(transpose_shared::Args { x, out })
            }),
            ("shared 64, 8 warps", |x, out| {
                transpose_shared::<$ty, 64, 8>(transpose_shared::Args { x, out })
            }),
        ]
    };
}

fn main() -> Result<()> {
    let device = Device::best_for(transpose::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<2>() {
        Some(size) => vec![size],
        None if device.is_emulator() => vec![[128, 256], [77, 131]],
        None => vec![[8192, 8192], [16384, 16384], [1001, 1000]],
    };
    let mut table =
        report::Table::new(&["type", "instance", "rows", "columns", "wrong", "ms", "GB/s"]);
    let progress = report::progress(2 * sizes.len(), "transpose");
    for size in sizes {
        let numbers = report::random(size[0] * size[1], 3);
        let halves: Vec<f16> = numbers.iter().map(|x| f16::from_f32(*x)).collect();
        check(&stream, size, &halves, instances!(f16), &mut table)?;
        progress.inc(1);
        check(&stream, size, &numbers, instances!(f32), &mut table)?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    table.print();
    Ok(())
}

/// Runs every instance, checks it, and adds its line to the table.
fn check<T: Element + Float>(
    stream: &Stream,
    [rows, columns]: [usize; 2],
    host: &[T],
    instances: [(&str, Make<T>); 4],
    table: &mut report::Table,
) -> Result<()> {
    let x = stream.upload(host, [rows, columns])?;
    for (instance, make) in instances {
        let mut out = stream.full([columns, rows], T::NAN)?;
        make(&x, &mut out).launch(stream)?;
        let actual = out.to_vec(stream)?;
        // Every row of a small matrix, of a large one every row of some distance, which tiles do not divide.
        let step = if rows * columns <= 1 << 21 { 1 } else { 37 };
        let wrong = (0..rows)
            .step_by(step)
            .flat_map(|row| (0..columns).map(move |column| (row, column)))
            .filter(|(row, column)| actual[column * rows + row] != host[row * columns + column])
            .count();
        let ms = report::median_ms(stream, || make(&x, &mut out).launch(stream))?;
        let bytes = 2 * rows * columns * size_of::<T>();
        table.row(&[&T::DTYPE, &instance, &rows, &columns], wrong as f64, ms, bytes as f64);
        assert!(wrong == 0, "{instance}, {rows}x{columns} of {}: {wrong} wrong", T::DTYPE);
    }
    Ok(())
}
