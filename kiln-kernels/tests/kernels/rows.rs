//! Operations along rows against the same in f64.

#![expect(
    clippy::cast_precision_loss,
    clippy::many_single_char_names,
    reason = "numbers of columns are small, and names are those of the formulas"
)]

use kiln::prelude::{Device, Result};
use kiln_kernels::rows;

use crate::support::{Number, assert_close, devices};

pub(crate) mod cross_entropy;
mod norm;
mod softmax;

/// How far a result of f32 may be off, of the size of what is computed: half a unit of the last place.
const ROUNDING: f64 = 1.0 / 16_777_216.0;

/// The most additions of a sum that follow one another. A thread adds 32 elements of each tile, and there are few tiles; then come 5
/// steps within a warp and 16 warps.
const ADDITIONS: f64 = 96.0;

/// Rows of every instance, of widths with and without whole accesses of 16 bytes, and of more than one tile of the widest.
const SHAPES: &[[usize; 2]] = &[
    [1, 1],
    [37, 64],
    [35, 7],
    [9, 256],
    [3, 199],
    [6, 1000],
    [2, 2056],
    [1, 4097],
    [1, 12_000],
    [2, 18_001],
    [1, 24_576],
];

/// Rows that are spread over a cluster, or read twice where there is none: of each type, and of more than all can keep.
const SPREAD: &[[usize; 2]] = &[[1, 40_000], [2, 70_001], [1, 131_080]];

/// The devices and the shapes to test on each: kernels of shorter rows are the same on all.
fn devices_and_shapes() -> Result<Vec<(Device, Vec<[usize; 2]>)>> {
    let all = || SHAPES.iter().chain(SPREAD).copied().collect();
    let shapes = |at: usize| if at == 0 { all() } else { SPREAD.to_vec() };
    let oldest_first = devices(rows::TARGETS)?.into_iter().rev().enumerate();
    Ok(oldest_first.map(|(at, device)| (device, shapes(at))).collect())
}

/// Compares a result with values and how far each may be off before it is rounded to the element type, which of f16 is by up to half of its
/// least number.
pub(crate) fn assert_near<T: Number>(
    what: &str,
    columns: usize,
    actual: &[T],
    required: &[(f64, f64)],
) {
    let least = if T::of(1e-20).value() > 0.0 { 0.0 } else { 1.0 / f64::from(1 << 25) };
    let required: Vec<_> = required.iter().map(|&(value, off)| (value, off + least)).collect();
    assert_close(what, columns, actual, &required);
}

pub(crate) fn values<T: Number>(of: &[T]) -> Vec<f64> {
    of.iter().map(|x| x.value()).collect()
}

/// The rows of a matrix of 64 columns: NaN, and from a column on the rows of `part`.
pub(crate) fn within<T: Number>(part: &[T], columns: usize, from: usize) -> Vec<T> {
    let mut all = vec![T::of(f64::NAN); part.len() / columns * 64];
    for (all, part) in all.chunks_mut(64).zip(part.chunks(columns)) {
        all[from..from + columns].copy_from_slice(part);
    }
    all
}
