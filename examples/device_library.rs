//! Kernels that use device functions and types of another crate, `device-library` in this folder.
//!
//! out = silu(a) · b, where b is above a tenth; four orders in which the blocks visit the tiles: two of Kiln, one of
//! the library, and one of this program.
//!
//! `cargo run --release --example device_library [-- ROWS COLUMNS]`

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "an example prints, measures in f64, and reads like the library code that it stands for"
)]

use columns::Columns;
use device_library::{
    act::{self, silu as swish},
    sched::{self, Snake},
};
use kiln::prelude::*;
use kiln::sched::{Grouped, Linear, Schedule};

#[path = "support/report.rs"]
mod report;

/// An order of this program's own.
#[device]
mod columns {
    use kiln::sched::Schedule;

    /// Column after column.
    #[derive(Clone, Copy, Debug)]
    pub struct Columns {
        tiles_m: i32,
        tiles_n: i32,
    }

    impl Schedule for Columns {
        fn new(tiles_m: i32, tiles_n: i32) -> Self {
            Columns { tiles_m, tiles_n }
        }

        fn count(self) -> i32 {
            self.tiles_m * self.tiles_n
        }

        fn tile(self, i: i32) -> (i32, i32) {
            (i % self.tiles_m, i / self.tiles_m)
        }
    }
}

/// Of this module. The library's are used in the same way: under any name and by any path.
#[device]
fn gated(x: Tile<f32>, gate: Tile<f32>) -> Tile<f32> {
    swish(x) * act::threshold::<f32, 10>(gate)
}

/// One block a tile.
#[kernel(target = sm_80, warps = 4, grid = cdiv(a.dim(0), BM) * cdiv(a.dim(1), BN),
         instances(T = [f16, f32], S = [Linear, Grouped<4>, Snake, Columns], (BM, BN) = [(32, 64)]))]
pub fn gate<T: Float, S: Schedule, const BM: i32, const BN: i32>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    out: TensorMut<T, 2>,
) {
    let at = sched::origin::<S, BM, BN>(a.dim(0), a.dim(1));
    let x = a.tile(at, [BM, BN]).load().cast::<f32>();
    let y = b.tile(at, [BM, BN]).load().cast::<f32>();
    out.tile(at, [BM, BN]).store(gated(x, y).cast::<T>());
}

fn main() -> Result<()> {
    let device = Device::best_for(gate::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<2>() {
        Some(size) => vec![size],
        None if device.is_emulator() => vec![[256, 128], [77, 131]],
        None => vec![[8192, 8192], [1001, 1000]],
    };
    let mut table =
        report::Table::new(&["type", "order", "rows", "columns", "rel. error", "ms", "GB/s"]);
    let progress = report::progress(sizes.len(), "device_library");
    for size in sizes {
        for instance in gate::instances() {
            if instance.T == Dtype::F16 {
                check::<f16>(&stream, size, instance, &mut table)?;
            } else {
                check::<f32>(&stream, size, instance, &mut table)?;
            }
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    table.print();
    Ok(())
}

/// Compares every element with the formula in `f64`: an element that no block wrote stays NaN.
fn check<T: Element + Float>(
    stream: &Stream,
    [rows, columns]: [usize; 2],
    instance: gate::Instance,
    table: &mut report::Table,
) -> Result<()> {
    let numbers = |seed| -> Vec<T> {
        report::random(rows * columns, seed).into_iter().map(|x| T::of(x * 4.0)).collect()
    };
    let (a_host, b_host) = (numbers(1), numbers(2));
    let a = stream.upload(&a_host, [rows, columns])?;
    let b = stream.upload(&b_host, [rows, columns])?;
    let mut out = stream.full([rows, columns], T::NAN)?;
    instance.with(gate::Args { a: &a, b: &b, out: &mut out }).launch(stream)?;
    let (mut difference, mut norm) = (0.0, 0.0);
    for ((a, b), actual) in a_host.iter().zip(&b_host).zip(out.to_vec(stream)?) {
        let (a, b) = (a.cast::<f64>(), b.cast::<f64>());
        let required = if b > 0.1 { a / (1.0 + (-a).exp()) * b } else { 0.0 };
        difference += (actual.cast::<f64>() - required).powi(2);
        norm += required.powi(2);
    }
    let error = f64::sqrt(difference / norm);
    let ms = report::median_ms(stream, || {
        instance.with(gate::Args { a: &a, b: &b, out: &mut out }).launch(stream)
    })?;
    let bytes = 3 * rows * columns * size_of::<T>();
    let order = instance.S;
    table.row(&[&T::DTYPE, &order, &rows, &columns], error, ms, bytes as f64);
    // Rounding alone costs up to half of `EPSILON` of each value.
    let limit = f64::from(T::EPSILON.cast::<f32>()).max(4e-6);
    assert!(error < limit, "{order}, {rows}x{columns} of {}: relative error {error}", T::DTYPE);
    Ok(())
}
