//! Products of the rows of experts, against sums in f64.

#![expect(
    clippy::cast_precision_loss,
    clippy::many_single_char_names,
    reason = "sums are small; the letters of a product"
)]

use half::{bf16, f16};
use kiln::prelude::{Device, DeviceTensor, Result, Stream};
use kiln_kernels::{
    Half,
    grouped::Grouped,
};

use crate::support::{Number, assert_close, devices, numbers};

/// Rows of experts, and their products as they should be.
struct Case<T> {
    stream: Stream,
    grouped: Grouped,
    shape: [usize; 3],
    a: Vec<T>,
    b: Vec<T>,
    offsets: Vec<i32>,
}

/// A sum of products and how far it may be off before it is rounded. Products are exact in f32; each of the sums rounds by 2^-24 of a sum
/// below the sum of magnitudes, and Hopper cuts off twice that.
fn sum(terms: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let (mut sum, mut size, mut count) = (0.0, 0.0, 0);
    for (x, y) in terms {
        sum += x * y;
        size += (x * y).abs();
        count += 1;
    }
    (sum, f64::from(count) * 2f64.powi(-23) * size)
}

/// The expert of each row: those of offsets that do not decrease.
fn experts(offsets: &[i32], rows: usize) -> Vec<Option<usize>> {
    let row = |row| i32::try_from(row).expect("rows are few");
    let of = |at| offsets.windows(2).position(|range| (range[0]..range[1]).contains(&row(at)));
    (0..rows).map(of).collect()
}

impl<T: Number + Half> Case<T> {
    fn new(device: &Device, [rows, n, k]: [usize; 3], offsets: &[i32]) -> Result<Case<T>> {
        let stream = device.stream()?;
        let grouped = Grouped::new(&stream)?;
        let (a, b) = (numbers(rows * k, 1), numbers((offsets.len() - 1) * n * k, 2));
        Ok(Case { stream, grouped, shape: [rows, n, k], a, b, offsets: offsets.to_vec() })
    }

    fn a(&self) -> Result<DeviceTensor<T, 2>> {
        let [rows, _, k] = self.shape;
        self.stream.upload(&self.a, [rows, k])
    }

    fn b(&self) -> Result<DeviceTensor<T, 3>> {
        let [_, n, k] = self.shape;
        self.stream.upload(&self.b, [self.offsets.len() - 1, n, k])
    }

    fn offsets(&self) -> Result<DeviceTensor<i32, 1>> {
        self.stream.upload(&self.offsets, [self.offsets.len()])
    }

    /// Row `row` of `a` times row `column` of the weights of an expert.
    fn sum(&self, expert: usize, row: usize, column: usize) -> (f64, f64) {
        let [_, n, k] = self.shape;
        let (x, y) = (&self.a[row * k..][..k], &self.b[(expert * n + column) * k..][..k]);
        sum(x.iter().zip(y).map(|(x, y)| (x.value(), y.value())))
    }

    /// Compares a result, in which rows of no expert are as they were: 7.
    fn check(&self, what: &str, c: &DeviceTensor<T, 2>) -> Result<()> {
        let [rows, n, _] = self.shape;
        let experts = experts(&self.offsets, rows);
        let required: Vec<(f64, f64)> = (0..rows * n)
            .map(|at| experts[at / n].map_or((7.0, 0.0), |e| self.sum(e, at / n, at % n)))
            .collect();
        assert_close(what, n, &c.to_vec(&self.stream)?, &required);
        Ok(())
    }
}

fn products<T: Number + Half>(shape: [usize; 3], offsets: &[i32]) -> Result<()> {
    for device in devices(Grouped::TARGETS)? {
        let case = Case::<T>::new(&device, shape, offsets)?;
        let mut c = case.stream.full([shape[0], shape[1]], T::of(7.0))?;
        case.grouped.product(&case.stream, &case.a()?, &case.b()?, &case.offsets()?, &mut c)?;
        case.check(&format!("{shape:?} {offsets:?} on {device}"), &c)?;
    }
    Ok(())
}

#[test]
fn rows_of_experts_are_multiplied_by_their_weights() -> Result<()> {
    products::<bf16>([40, 136, 72], &[0, 3, 3, 20, 40])?;
    products::<f16>([100, 264, 136], &[0, 65, 100])?;
    products::<bf16>([190, 136, 72], &[0, 60, 190])?;
    products::<f16>([300, 264, 72], &[0, 290, 300])
}
