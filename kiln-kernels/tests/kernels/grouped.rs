//! Products of the rows of experts, against sums in f64.

#![expect(
    clippy::cast_precision_loss,
    clippy::many_single_char_names,
    reason = "sums are small; the letters of a product"
)]

use half::{bf16, f16};
use kiln::prelude::{Device, DeviceTensor, Result, Stream};
use kiln_kernels::{
    Activation, Half,
    grouped::{Grouped, Options},
};

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

/// A number of a row, one that is out of range at every seventh place.
fn listed(at: usize, row: usize) -> i32 {
    let outside = [-1, i32::MAX, i32::MIN, 100_000];
    if at % 7 == 4 { outside[at / 7 % 4] } else { i32::try_from(row).expect("rows are few") }
}

/// Rows that one list names go where another one says, with all that an epilogue does.
fn lists<T: Number + Half>(shape: [usize; 3], offsets: &[i32], which: [bool; 2]) -> Result<()> {
    let ([rows, n, _], [gathers, scatters]) = (shape, which);
    for device in devices(Grouped::TARGETS)? {
        let case = Case::<T>::new(&device, shape, offsets)?;
        let stream = &case.stream;
        // Half of the rows of `a` are not named.
        let tokens = if gathers { rows / 2 } else { rows };
        let a = stream.upload(&case.a[..tokens * shape[2]], [tokens, shape[2]])?;
        let from: Vec<i32> = (0..rows).map(|i| listed(i, i * 5 % tokens)).collect();
        // Each row once: 11 divides no number of rows here.
        let outputs = if scatters { rows + 3 } else { rows };
        let to: Vec<i32> = (0..rows).map(|i| listed(i + 3, (i * 11 + 2) % outputs)).collect();
        let (factors, bias) = (numbers::<f32>(rows, 4), numbers::<T>((offsets.len() - 1) * n, 5));
        let (gather, scatter) = (stream.upload(&from, [rows])?, stream.upload(&to, [rows])?);
        let weights = stream.upload(&factors, [rows])?;
        let on_device = stream.upload(&bias, [offsets.len() - 1, n])?;
        let options = Options {
            scale: 0.5,
            bias: Some(&on_device),
            activation: Some(Activation::Relu),
            weights: Some(&weights),
            gather: gathers.then_some(&gather),
            scatter: scatters.then_some(&scatter),
        };
        let mut c = case.unwritten([outputs, n])?;
        let (b, ends) = (case.b()?, case.offsets()?);
        case.grouped.product_with(stream, &a, &b, &ends, &mut c, options)?;

        let mut required = vec![(BEFORE, 0.0); outputs * n];
        for i in 0..rows {
            let source = if gathers { usize::try_from(from[i]) } else { Ok(i) };
            let target = if scatters { usize::try_from(to[i]) } else { Ok(i) };
            let (Some(expert), Ok(target)) = (case.experts[i], target) else { continue };
            if target >= outputs {
                continue;
            }
            for column in 0..n {
                let (sum, off) = match source {
                    Ok(row) if row < tokens => case.c_at(expert, row, column),
                    _ => (0.0, 0.0),
                };
                let x = 0.5 * sum + bias[expert * n + column].value();
                let factor = f64::from(factors[i]);
                // Three roundings of f32, of the scaled sum, that with the bias, and the product with the weight, of numbers not larger
                // than these.
                let roundings = 3.0 * 2f64.powi(-24) * (0.5 * sum.abs() + x.abs());
                let off = factor.abs() * (0.5 * off + roundings);
                required[target * n + column] = (factor * x.max(0.0), off);
            }
        }
        let what = format!("{shape:?} {offsets:?} {which:?} on {device}");
        assert_close(&what, n, &c.to_vec(stream)?, &required);
    }
    Ok(())
}

#[test]
fn few_rows_are_gathered_and_scattered() -> Result<()> {
    lists::<bf16>([40, 136, 72], &[0, 3, 3, 20, 38], [true, true])
}

#[test]
fn many_rows_are_gathered_and_scattered() -> Result<()> {
    lists::<f16>([150, 72, 136], &[2, 145], [true, true])
}

#[test]
fn rows_are_gathered_or_scattered() -> Result<()> {
    lists::<f16>([40, 72, 72], &[1, 20, 40], [true, false])?;
    lists::<f16>([40, 72, 72], &[0, 40], [false, true])?;
    lists::<bf16>([40, 72, 72], &[0, 19, 40], [false, false])
}
