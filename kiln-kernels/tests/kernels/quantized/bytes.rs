//! Products of FP8 numbers and of integers against sums in f64 and in i64.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::many_single_char_names,
    clippy::float_cmp,
    reason = "numbers are small, and those that are compared are exact"
)]

use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Error, Result, Stream, e4m3};
use kiln_kernels::{
    Real,
    quantized::{Float8Scales, QuantizedMatmul, Scaled},
};

use crate::support::{Number, assert_close, device, devices, numbers};

/// A matrix of numbers of one byte, and scales of its rows or of blocks.
struct Operand<T> {
    numbers: Vec<T>,
    scales: Vec<f32>,
    /// How many rows and columns share a scale.
    shared: [usize; 2],
    shape: [usize; 2],
}

impl<T: Copy + kiln::prelude::Element> Operand<T> {
    fn new(shape @ [rows, k]: [usize; 2], shared: [usize; 2], seed: u64, of: fn(f32) -> T) -> Self {
        let scales = rows.div_ceil(shared[0]) * k.div_ceil(shared[1]).max(1);
        let scales = numbers::<f32>(scales, seed + 1);
        let numbers = numbers::<f32>(rows * k, seed).into_iter().map(of).collect();
        Operand { numbers, scales, shared, shape }
    }

    fn scale(&self, row: usize, at: usize) -> f64 {
        let columns = self.shape[1].div_ceil(self.shared[1]).max(1);
        self.scales[row / self.shared[0] * columns + at / self.shared[1]].into()
    }

    fn upload(&self, stream: &Stream) -> Result<(DeviceTensor<T, 2>, DeviceTensor<f32, 2>)> {
        let [rows, k] = self.shape;
        let rows = rows.div_ceil(self.shared[0]);
        // A row has a scale even if it has no numbers, but no blocks then.
        let columns = if self.shared[1] == ALL { 1 } else { k.div_ceil(self.shared[1]) };
        let scales = stream.upload(&self.scales[..rows * columns], [rows, columns])?;
        Ok((stream.upload(&self.numbers, self.shape)?, scales))
    }
}

/// All numbers along `k`, or all rows.
const ALL: usize = usize::MAX;

fn float8(
    stream: &Stream,
    multiprocessors: usize,
    [m, n, k]: [usize; 3],
    scales: Float8Scales,
    [of_a, of_b]: [[usize; 2]; 2],
) -> Result<()> {
    let of = |x: f32| e4m3::from_f32(x * x * x * 16.0);
    let (a, b) = (Operand::new([m, k], of_a, 1, of), Operand::new([n, k], of_b, 3, of));
    let mut required = Vec::new();
    for row in 0..m {
        for column in 0..n {
            let (mut sum, mut size, mut off) = (0.0, 0.0, 0.0);
            for from in (0..k).step_by(128) {
                let scale = a.scale(row, from) * b.scale(column, from);
                let mut part = 0.0f64;
                for from in (from..(from + 128).min(k)).step_by(32) {
                    let terms = (from..(from + 32).min(k)).map(|at| {
                        let (x, y) = (a.numbers[row * k + at], b.numbers[column * k + at]);
                        f64::from(x.to_f32()) * f64::from(y.to_f32())
                    });
                    // `wgmma` cuts each of 32 products and the sum so far, and then the new sum, to 13 bits below the highest of the
                    // largest of them. Other products are more exact.
                    let largest = terms.clone().map(f64::abs).fold(part.abs(), f64::max);
                    off += 34.0 * 2f64.powi(-13) * largest * scale.abs();
                    size += terms.clone().map(f64::abs).sum::<f64>() * scale.abs();
                    part += terms.sum::<f64>();
                }
                sum += part * scale;
            }
            // The product of scales, that with a sum, and the sum of all, for each step of 128; and of what was cut already.
            off = (off + (k.div_ceil(128) + 3) as f64 * 2f64.powi(-23) * size) * 1.001;
            required.push((sum, off));
        }
    }
    let ((a, a_scales), (b, b_scales)) = (a.upload(stream)?, b.upload(stream)?);
    let mut matmul = QuantizedMatmul::on(stream, multiprocessors)?;
    // What the first leaves in scratch memory serves the second.
    for _ in 0..2 {
        let mut c = stream.full([m, n], bf16::NAN)?;
        let a = Scaled { numbers: &a, scales: &a_scales };
        let b = Scaled { numbers: &b, scales: &b_scales };
        matmul.float8(stream, scales, a, b, &mut c)?;
        let what = format!("{m} {n} {k}, scales of {scales:?}");
        assert_close(&what, n, &c.to_vec(stream)?, &required);
    }
    Ok(())
}

fn of_blocks(stream: &Stream, multiprocessors: usize, shape: [usize; 3]) -> Result<()> {
    float8(stream, multiprocessors, shape, Float8Scales::Blocks, [[1, 128], [128, 128]])
}

fn of_rows(stream: &Stream, multiprocessors: usize, shape: [usize; 3]) -> Result<()> {
    float8(stream, multiprocessors, shape, Float8Scales::Rows, [[1, ALL]; 2])
}

#[test]
fn few_rows_of_float8_are_multiplied() -> Result<()> {
    for device in devices(QuantizedMatmul::TARGETS)? {
        let stream = device.stream()?;
        of_blocks(&stream, 132, [2, 131, 272])?;
        of_rows(&stream, 132, [9, 7, 35])?;
        float8(&stream, 132, [1, 24, 64], Float8Scales::Rows, [[ALL, ALL], [1, ALL]])?;
    }
    Ok(())
}

/// As many tiles as multiprocessors: `wgmma` multiplies on Hopper, through rings that go around.
#[test]
fn few_rows_of_wide_float8_are_multiplied() -> Result<()> {
    for device in devices(&QuantizedMatmul::TARGETS[2..])? {
        let stream = device.stream()?;
        of_blocks(&stream, 2, [2, 131, 2704])?;
        of_blocks(&stream, 2, [33, 140, 2704])?;
        of_rows(&stream, 1, [16, 24, 784])?;
        of_rows(&stream, 1, [17, 24, 784])?;
        float8(&stream, 1, [64, 8, 16], Float8Scales::Rows, [[ALL, ALL], [1, ALL]])?;
    }
    Ok(())
}

#[test]
fn shares_of_k_are_added() -> Result<()> {
    let stream = device(QuantizedMatmul::TARGETS)?.stream()?;
    of_blocks(&stream, 132, [2, 4, 1664])?;
    of_rows(&stream, 1, [33, 24, 512])?;
    integers::<f32>(&stream, 132, [3, 20, 784])
}

#[test]
fn many_rows_of_float8_are_multiplied() -> Result<()> {
    for device in devices(&QuantizedMatmul::TARGETS[2..])? {
        let stream = device.stream()?;
        of_blocks(&stream, 132, [70, 24, 272])?;
        of_rows(&stream, 132, [70, 136, 16])?;
        // Steps by fours, more of them than a ring has buffers, and two that are left.
        of_blocks(&stream, 132, [66, 24, 1216])?;
        // Large tiles, of which a block computes several.
        of_blocks(&stream, 1, [140, 136, 1424])?;
        float8(&stream, 1, [65, 8, 400], Float8Scales::Rows, [[1, ALL], [ALL, ALL]])?;
    }
    Ok(())
}

#[test]
fn every_number_of_float8_is_multiplied() -> Result<()> {
    for device in devices(QuantizedMatmul::TARGETS)? {
        let stream = device.stream()?;
        let all: Vec<e4m3> = (0..=u8::MAX).map(e4m3::from_bits).collect();
        let a = stream.upload(&all, [256, 1])?;
        let (b, scale) = (stream.full([1, 1], e4m3::from_f32(1.0))?, stream.full([1, 1], 1.0)?);
        let mut c = stream.zeros::<bf16, 2>([256, 1])?;
        let (a, b) =
            (Scaled { numbers: &a, scales: &scale }, Scaled { numbers: &b, scales: &scale });
        QuantizedMatmul::new(&stream)?.float8(&stream, Float8Scales::Rows, a, b, &mut c)?;
        for (required, actual) in all.iter().zip(c.to_vec(&stream)?) {
            let (required, actual) = (required.to_f32(), actual.to_f32());
            let equal = required == actual || required.is_nan() && actual.is_nan();
            assert!(equal, "{actual} for {required}");
        }
    }
    Ok(())
}

/// Integers of all magnitudes.
fn operands([m, n, k]: [usize; 3]) -> (Operand<i8>, Operand<i8>) {
    let of = |x: f32| (x * 128.0) as i8;
    (Operand::new([m, k], [1, ALL], 1, of), Operand::new([n, k], [1, ALL], 3, of))
}

fn exact(a: &Operand<i8>, b: &Operand<i8>) -> Vec<i32> {
    let ([m, k], [n, _]) = (a.shape, b.shape);
    let sum = |row: usize, column: usize| {
        let terms = a.numbers[row * k..][..k].iter().zip(&b.numbers[column * k..][..k]);
        terms.map(|(&x, &y)| i32::from(x) * i32::from(y)).sum()
    };
    (0..m * n).map(|at| sum(at / n, at % n)).collect()
}

fn integers<T: Number + Real>(
    stream: &Stream,
    multiprocessors: usize,
    shape @ [m, n, _]: [usize; 3],
) -> Result<()> {
    let (a, b) = operands(shape);
    let required = exact(&a, &b);
    let ((a_numbers, a_scales), (b_numbers, b_scales)) = (a.upload(stream)?, b.upload(stream)?);
    let mut matmul = QuantizedMatmul::on(stream, multiprocessors)?;
    for _ in 0..2 {
        let mut c = stream.full([m, n], T::of(f64::NAN))?;
        let a = Scaled { numbers: &a_numbers, scales: &a_scales };
        let b = Scaled { numbers: &b_numbers, scales: &b_scales };
        matmul.int8(stream, a, b, &mut c)?;
        let mut sums = stream.full([m, n], -1)?;
        matmul.int8_sums(stream, &a_numbers, &b_numbers, &mut sums)?;
        assert!(sums.to_vec(stream)? == required, "{shape:?}");
    }
    let mut c = stream.full([m, n], T::of(f64::NAN))?;
    let (of_a, of_b) = (
        Scaled { numbers: &a_numbers, scales: &a_scales },
        Scaled { numbers: &b_numbers, scales: &b_scales },
    );
    matmul.int8(stream, of_a, of_b, &mut c)?;
    let limits: Vec<_> = (0..m * n)
        .map(|at| {
            let value = f64::from(required[at]) * a.scale(at / n, 0) * b.scale(at % n, 0);
            // A sum is rounded to f32, and so are two products with scales.
            (value, 3.0 * 2f64.powi(-24) * value.abs())
        })
        .collect();
    assert_close(&format!("{shape:?}"), n, &c.to_vec(stream)?, &limits);
    Ok(())
}

#[test]
fn integers_are_multiplied_exactly() -> Result<()> {
    for device in devices(QuantizedMatmul::TARGETS)? {
        let stream = device.stream()?;
        integers::<bf16>(&stream, 132, [2, 131, 272])?;
        integers::<f16>(&stream, 132, [9, 7, 35])?;
    }
    for device in devices(&QuantizedMatmul::TARGETS[2..])? {
        let stream = device.stream()?;
        integers::<bf16>(&stream, 132, [70, 136, 272])?;
        integers::<f32>(&stream, 1, [130, 136, 144])?;
        integers::<bf16>(&stream, 1, [130, 264, 16])?;
    }
    Ok(())
}

#[test]
fn empty_extents_give_nothing_or_zeros() -> Result<()> {
    for device in devices(QuantizedMatmul::TARGETS)? {
        let stream = device.stream()?;
        for shape in [[0, 8, 64], [8, 0, 64], [70, 8, 0]] {
            of_blocks(&stream, 132, shape)?;
            of_rows(&stream, 132, shape)?;
            integers::<bf16>(&stream, 132, shape)?;
        }
    }
    Ok(())
}

#[test]
fn views_are_multiplied_in_place() -> Result<()> {
    for device in devices(&QuantizedMatmul::TARGETS[2..])? {
        let stream = device.stream()?;
        let shape @ [m, n, k] = [66, 5, 33];
        let (a, b) = operands(shape);
        let wide: Vec<i8> =
            a.numbers.chunks(k).flat_map(|row| [&[99, 99, 99], row].concat()).collect();
        let wide = stream.upload(&wide, [m, k + 3])?;
        let mut c = stream.full([m, n + 2], -1)?;
        QuantizedMatmul::new(&stream)?.int8_sums(
            &stream,
            &wide.slice(1, 3..k + 3)?,
            &stream.upload(&b.numbers, [n, k])?,
            &mut c.slice_mut(1, 1..n + 1)?,
        )?;
        let required = exact(&a, &b);
        let required: Vec<i32> =
            required.chunks(n).flat_map(|row| [&[-1], row, &[-1]].concat()).collect();
        assert!(c.to_vec(&stream)? == required);
    }
    Ok(())
}

#[test]
fn shapes_that_do_not_fit_are_refused() -> Result<()> {
    let stream = device(QuantizedMatmul::TARGETS)?.stream()?;
    let (a, b) = (stream.zeros([2, 256])?, stream.zeros([130, 256])?);
    let mut matmul = QuantizedMatmul::new(&stream)?;
    let mut refused = |scales, of_a: [usize; 2], of_b: [usize; 2], c: [usize; 2]| {
        let (a_scales, b_scales) = (stream.zeros(of_a)?, stream.zeros(of_b)?);
        let a = Scaled { numbers: &a, scales: &a_scales };
        let b = Scaled { numbers: &b, scales: &b_scales };
        match matmul.float8(&stream, scales, a, b, &mut stream.zeros(c)?) {
            Err(Error::Shape { .. }) => Ok(true),
            result => result.map(|()| false),
        }
    };
    assert!(!refused(Float8Scales::Blocks, [2, 2], [2, 2], [2, 130])?);
    assert!(refused(Float8Scales::Blocks, [2, 1], [2, 2], [2, 130])?);
    assert!(refused(Float8Scales::Blocks, [2, 2], [1, 2], [2, 130])?);
    assert!(refused(Float8Scales::Rows, [2, 2], [130, 1], [2, 130])?);
    assert!(refused(Float8Scales::Rows, [2, 1], [130, 1], [130, 2])?);
    assert!(!refused(Float8Scales::Rows, [1, 1], [1, 1], [2, 130])?);
    Ok(())
}

#[test]
fn rows_that_are_not_contiguous_are_refused() -> Result<()> {
    for device in devices(QuantizedMatmul::TARGETS)? {
        let stream = device.stream()?;
        let (a, b) = (stream.zeros([64, 80])?, stream.zeros([16, 64])?);
        let mut c = stream.zeros([80, 16])?;
        let product = QuantizedMatmul::new(&stream)?.int8_sums(&stream, &a.transpose(), &b, &mut c);
        assert!(matches!(product, Err(Error::FactBroken { .. })), "{product:?}");
    }
    Ok(())
}

/// What `pointwise::quantize` makes has the shapes that products take.
#[cfg(feature = "pointwise")]
#[test]
fn numbers_are_quantized_and_multiplied() -> Result<()> {
    use kiln_kernels::pointwise::{Scaling, quantize};

    let stream = device(QuantizedMatmul::TARGETS)?.stream()?;
    let (m, n, k) = (3, 130, 200);
    let x = stream.full([m, k], 0.5f32)?;
    let w = stream.full([n, k], -3.0f32)?;
    let mut matmul = QuantizedMatmul::new(&stream)?;
    for (scales, of_a, of_b) in [
        (Float8Scales::Blocks, Scaling::RowBlocks, Scaling::Squares),
        (Float8Scales::Rows, Scaling::Rows, Scaling::Rows),
    ] {
        let (mut a, mut b) = (stream.zeros::<e4m3, 2>([m, k])?, stream.zeros::<e4m3, 2>([n, k])?);
        let mut a_scales = stream.zeros(of_a.scales([m, k]))?;
        let mut b_scales = stream.zeros(of_b.scales([n, k]))?;
        quantize(&stream, of_a, &x, &mut a, &mut a_scales)?;
        quantize(&stream, of_b, &w, &mut b, &mut b_scales)?;
        let mut c = stream.zeros::<bf16, 2>([m, n])?;
        let a = Scaled { numbers: &a, scales: &a_scales };
        let b = Scaled { numbers: &b, scales: &b_scales };
        matmul.float8(&stream, scales, a, b, &mut c)?;
        // All numbers are the largest of their scale.
        let c = c.to_vec(&stream)?;
        assert!(c.iter().all(|&c| c == bf16::from_f32(-300.0)), "{scales:?}: {c:?}");
    }
    Ok(())
}
