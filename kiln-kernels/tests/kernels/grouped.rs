//! Products of the rows of experts, against sums in f64.

#![expect(
    clippy::cast_precision_loss,
    clippy::many_single_char_names,
    reason = "sums are small; the letters of a product"
)]

use half::{bf16, f16};
use kiln::prelude::{Device, DeviceTensor, Result, Stream};
use kiln_kernels::{Half, grouped::Grouped};

use crate::support::{Number, assert_close, devices, numbers};

/// What a tensor holds before it is written: rows of no expert keep it.
const BEFORE: f64 = 7.0;

/// So few that each computes several tiles.
const MULTIPROCESSORS: usize = 3;

/// Rows of experts, their gradients, and the weights.
struct Case<T> {
    stream: Stream,
    grouped: Grouped,
    shape: [usize; 3],
    a: Vec<T>,
    b: Vec<T>,
    dc: Vec<T>,
    offsets: Vec<i32>,
    /// The expert of each row.
    experts: Vec<Option<usize>>,
}

/// A sum of products, and how far it may be off before it is rounded. Products are exact in f32; each of the sums rounds by 2^-24 of a sum
/// below the sum of magnitudes, and Hopper cuts off twice that.
fn sum<T: Number>(terms: impl Iterator<Item = (T, T)>) -> (f64, f64) {
    let (mut sum, mut size, mut count) = (0.0, 0.0, 0);
    for (x, y) in terms {
        let term = x.value() * y.value();
        sum += term;
        size += term.abs();
        count += 1;
    }
    (sum, f64::from(count) * 2f64.powi(-23) * size)
}

impl<T: Number + Half> Case<T> {
    fn new(device: &Device, [rows, n, k]: [usize; 3], offsets: &[i32]) -> Result<Case<T>> {
        let stream = device.stream()?;
        let at = |row| i32::try_from(row).expect("rows are few");
        let of = |row| offsets.windows(2).position(|range| (range[0]..range[1]).contains(&at(row)));
        Ok(Case {
            grouped: Grouped::new(&stream)?.with_multiprocessors(MULTIPROCESSORS),
            stream,
            shape: [rows, n, k],
            a: numbers(rows * k, 1),
            b: numbers((offsets.len() - 1) * n * k, 2),
            dc: numbers(rows * n, 3),
            offsets: offsets.to_vec(),
            experts: (0..rows).map(of).collect(),
        })
    }

    fn rows_of(&self, expert: usize) -> impl Iterator<Item = usize> {
        (0..self.shape[0]).filter(move |&row| self.experts[row] == Some(expert))
    }

    fn a(&self) -> Result<DeviceTensor<T, 2>> {
        let [rows, _, k] = self.shape;
        self.stream.upload(&self.a, [rows, k])
    }

    fn b(&self) -> Result<DeviceTensor<T, 3>> {
        let [_, n, k] = self.shape;
        self.stream.upload(&self.b, [self.offsets.len() - 1, n, k])
    }

    fn dc(&self) -> Result<DeviceTensor<T, 2>> {
        let [rows, n, _] = self.shape;
        self.stream.upload(&self.dc, [rows, n])
    }

    fn offsets(&self) -> Result<DeviceTensor<i32, 1>> {
        self.stream.upload(&self.offsets, [self.offsets.len()])
    }

    fn unwritten<const R: usize>(&self, shape: [usize; R]) -> Result<DeviceTensor<T, R>> {
        self.stream.full(shape, T::of(BEFORE))
    }

    /// `a[row] · b[expert][column]`.
    fn c_at(&self, expert: usize, row: usize, column: usize) -> (f64, f64) {
        let [_, n, k] = self.shape;
        let b = &self.b[(expert * n + column) * k..][..k];
        sum(self.a[row * k..][..k].iter().zip(b).map(|(&x, &y)| (x, y)))
    }

    /// `dc[row] · b[expert][.., column]`.
    fn da_at(&self, expert: usize, row: usize, column: usize) -> (f64, f64) {
        let [_, n, k] = self.shape;
        sum((0..n).map(|i| (self.dc[row * n + i], self.b[(expert * n + i) * k + column])))
    }

    /// Compares rows, of which those of no expert are as they were.
    fn check(
        &self,
        what: &str,
        actual: &DeviceTensor<T, 2>,
        at: impl Fn(usize, usize, usize) -> (f64, f64),
    ) -> Result<()> {
        let columns = actual.shape()[1];
        let place = |i| (i / columns, i % columns);
        let required: Vec<(f64, f64)> = (0..actual.len())
            .map(place)
            .map(|(row, column)| self.experts[row].map_or((BEFORE, 0.0), |e| at(e, row, column)))
            .collect();
        let what = format!("{what} {:?} {:?}", self.shape, self.offsets);
        assert_close(&what, columns, &actual.to_vec(&self.stream)?, &required);
        Ok(())
    }
}

/// The product and its derivatives on each device.
fn products<T: Number + Half>(shape: [usize; 3], offsets: &[i32]) -> Result<()> {
    let [rows, n, k] = shape;
    for device in devices(Grouped::TARGETS)? {
        let case = Case::<T>::new(&device, shape, offsets)?;
        let (stream, grouped) = (&case.stream, &case.grouped);
        let (a, b, dc, offsets) = (case.a()?, case.b()?, case.dc()?, case.offsets()?);
        let mut c = case.unwritten([rows, n])?;
        grouped.product(stream, &a, &b, &offsets, &mut c)?;
        case.check("c", &c, |e, row, column| case.c_at(e, row, column))?;

        let mut da = case.unwritten([rows, k])?;
        grouped.backward_input(stream, &dc, &b, &offsets, &mut da)?;
        case.check("da", &da, |e, row, column| case.da_at(e, row, column))?;

        let mut db = case.unwritten(b.shape())?;
        grouped.backward_weight(stream, &dc, &a, &offsets, &mut db)?;
        let required: Vec<(f64, f64)> = (0..db.len())
            .map(|at| {
                let (expert, i, j) = (at / k / n, at / k % n, at % k);
                sum(case.rows_of(expert).map(|row| (case.dc[row * n + i], case.a[row * k + j])))
            })
            .collect();
        let what = format!("db {shape:?} {:?}", case.offsets);
        assert_close(&what, k, &db.to_vec(stream)?, &required);
    }
    Ok(())
}

#[test]
fn experts_with_few_rows() -> Result<()> {
    products::<bf16>([40, 136, 72], &[0, 3, 3, 20, 40])
}

#[test]
fn experts_with_more_rows() -> Result<()> {
    products::<f16>([100, 72, 136], &[0, 65, 100])
}
#[test]
fn experts_with_many_rows() -> Result<()> {
    products::<bf16>([190, 136, 72], &[0, 60, 190])?;
    products::<f16>([300, 264, 72], &[0, 290])
}
