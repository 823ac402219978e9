//! Products computed on the host, and comparing all of a kernel's results with them.

use std::{num::NonZero, thread};

#[path = "norm.rs"]
mod norm;

/// Up to this number of products of two numbers, every result is computed; beyond it, those of [`places`]. It is 4096 in each extent.
const MOST: usize = 1 << 36;

/// The required result of a product.
pub struct Reference {
    extents: [usize; 2],
    /// All of it, row by row, or those of [`places`].
    values: Vec<f64>,
}

impl Reference {
    /// left · right + more, of matrices in row-major order: `left` of shape `[m, k]`, `right` of shape `[k, n]`, `more` by row and column.
    pub fn of(
        left: &[f32],
        right: &[f32],
        more: impl Fn(usize, usize) -> f64,
        [m, n, k]: [usize; 3],
    ) -> Reference {
        if m * n * k <= MOST {
            let mut values: Vec<f64> = (0..m * n).map(|i| more(i / n, i % n)).collect();
            add_product(left, right, [m, n, k], &mut values);
            return Reference { extents: [m, n], values };
        }
        let value = |(row, column)| {
            let products =
                (0..k).map(|i| f64::from(left[row * k + i]) * f64::from(right[i * n + column]));
            more(row, column) + products.sum::<f64>()
        };
        Reference { extents: [m, n], values: places([m, n]).map(value).collect() }
    }

    /// The rows and columns that are compared, with what is required there.
    fn elements(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let [rows, columns] = self.extents;
        let is_whole = self.values.len() == rows * columns;
        let mut places = places(self.extents);
        self.values.iter().enumerate().map(move |(i, &value)| {
            let (row, column) = match places.next() {
                Some(place) if !is_whole => place,
                Some(_) | None => (i / columns, i % columns),
            };
            (row, column, value)
        })
    }

    /// The relative error of `actual`, each element of which lies between the two that `range` gives for the row, the column and what is required.
    ///
    /// # Panics
    /// If one lies elsewhere, or is NaN.
    pub fn compare(
        &self,
        name: &str,
        range: impl Fn(usize, usize, f64) -> [f64; 2],
        actual: impl Fn(usize, usize) -> f64,
    ) -> f64 {
        norm::relative_error(self.elements().map(|(row, column, required)| {
            let actual = actual(row, column);
            let [least, most] = range(row, column, required);
            assert!(
                least <= actual && actual <= most,
                "{name}, row {row}, column {column}: required {required}, from {least} to {most}, actual {actual}"
            );
            (required, actual)
        }))
    }
}

/// 4096 rows and columns that lie everywhere in a large matrix, the last ones among them.
fn places([rows, columns]: [usize; 2]) -> impl Iterator<Item = (usize, usize)> {
    // Steps coprime to the extents visit rows and columns evenly.
    (0..4096).map(move |i| (rows - 1 - i * 7919 % rows, columns - 1 - i * 104_729 % columns))
}

/// This number of products is added in f32 before the sum is added in f64: it is twice as fast, and leaves sqrt(32 / k)
/// of the rounding of a sum of k products in f32.
const DEPTH: usize = 32;
/// Columns of a block of the right operand, which the fastest cache holds.
const WIDTH: usize = 256;

/// Adds left · right to every element, with rows distributed over all cores.
fn add_product(left: &[f32], right: &[f32], [m, n, k]: [usize; 3], out: &mut [f64]) {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let rows = m.div_ceil(cores);
    thread::scope(|scope| {
        for (left, out) in left.chunks(rows * k).zip(out.chunks_mut(rows * n)) {
            scope.spawn(move || add_rows(left, right, [n, k], out));
        }
    });
}

fn add_rows(left: &[f32], right: &[f32], [n, k]: [usize; 2], out: &mut [f64]) {
    for from in (0..n).step_by(WIDTH) {
        let width = WIDTH.min(n - from);
        for top in (0..k).step_by(DEPTH) {
            let depth = DEPTH.min(k - top);
            for (left, out) in left.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
                let mut sums = [0f32; WIDTH];
                let sums = &mut sums[..width];
                for (i, &number) in (top..).zip(&left[top..top + depth]) {
                    for (sum, &other) in sums.iter_mut().zip(&right[i * n + from..][..width]) {
                        *sum += number * other;
                    }
                }
                for (out, &sum) in out[from..from + width].iter_mut().zip(&*sums) {
                    *out += f64::from(sum);
                }
            }
        }
    }
}
