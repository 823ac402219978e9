//! Weights of four bits: products against sums in f64.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::many_single_char_names,
    reason = "numbers are small"
)]

use half::bf16;
use kiln::prelude::{Error, Result, Stream};
use kiln_kernels::quantized::{Int4Weights, QuantizedMatmul, ZeroPoint};

use crate::support::{Number, assert_close, device, devices, numbers};

/// Weights on the host.
struct Weights {
    shape: [usize; 2],
    group: usize,
    codes: Vec<u8>,
    scales: Vec<bf16>,
    zeros: Option<Vec<u8>>,
}

impl Weights {
    fn new([n, k]: [usize; 2], group: usize, zero_point: ZeroPoint) -> Weights {
        let bytes = |len, seed| -> Vec<u8> {
            numbers::<f32>(len, seed).into_iter().map(|x| ((x + 1.0) * 128.0) as u8).collect()
        };
        let groups = k / group;
        // Scales of the two signs, and of sizes that differ.
        let scales = numbers::<f32>(groups * n, 5);
        let scales = scales.into_iter().map(|x| bf16::from_f32(x * x * x)).collect();
        let zeros = bytes(groups * n, 6).into_iter().map(|x| x % 16).collect();
        let zeros = (zero_point == ZeroPoint::OfGroup).then_some(zeros);
        Weights { shape: [n, k], group, codes: bytes(n * k / 2, 4), scales, zeros }
    }

    fn upload(&self, stream: &Stream) -> Result<Int4Weights> {
        let [n, k] = self.shape;
        let groups = k / self.group;
        let zeros = match &self.zeros {
            Some(zeros) => Some(stream.upload(zeros, [groups, n])?),
            None => None,
        };
        let codes = stream.upload(&self.codes, [n, k / 2])?;
        Int4Weights::new(codes, stream.upload(&self.scales, [groups, n])?, zeros, self.group)
    }

    fn value(&self, row: usize, at: usize) -> f64 {
        let [n, k] = self.shape;
        let byte = self.codes[row * (k / 2) + at / 2];
        let code = if at.is_multiple_of(2) { byte % 16 } else { byte / 16 };
        let of_group = at / self.group * n + row;
        let zero = self.zeros.as_ref().map_or(8, |zeros| zeros[of_group]);
        self.scales[of_group].to_f64() * (f64::from(code) - f64::from(zero))
    }
}

/// `weight_unit` is the unit of what weights are rounded to, if they are.
fn multiplies(
    stream: &Stream,
    [m, n, k]: [usize; 3],
    group: usize,
    zero_point: ZeroPoint,
    weight_unit: f64,
) -> Result<()> {
    let weights = Weights::new([n, k], group, zero_point);
    let a = numbers::<bf16>(m * k, 1);
    let mut required = Vec::new();
    for row in 0..m {
        for column in 0..n {
            let terms = || (0..k).map(|at| a[row * k + at].to_f64() * weights.value(column, at));
            let size: f64 = terms().map(f64::abs).sum();
            // Products are exact in f32. Each of k sums, and the product with a scale, rounds by 2^-24 of what is below `size`, and tensor
            // cores cut off twice that.
            let off = ((k + 1) as f64 * 2f64.powi(-23) + weight_unit / 2.0) * size;
            required.push((terms().sum(), off));
        }
    }
    let (a, weights) = (stream.upload(&a, [m, k])?, weights.upload(stream)?);
    let mut matmul = QuantizedMatmul::new(stream)?;
    // What the first leaves in scratch memory serves the second.
    for _ in 0..2 {
        let mut c = stream.full([m, n], bf16::NAN)?;
        matmul.int4(stream, &a, &weights, &mut c)?;
        let what = format!("{m} {n} {k} in groups of {group}, {zero_point:?}");
        assert_close(&what, n, &c.to_vec(stream)?, &required);
    }
    Ok(())
}

#[test]
fn few_rows_are_multiplied_by_codes() -> Result<()> {
    for device in devices(QuantizedMatmul::TARGETS)? {
        let stream = device.stream()?;
        multiplies(&stream, [1, 130, 128], 64, ZeroPoint::Middle, 0.0)?;
        multiplies(&stream, [3, 16, 640], 128, ZeroPoint::OfGroup, 0.0)?;
        multiplies(&stream, [9, 7, 192], 192, ZeroPoint::Middle, 0.0)?;
        multiplies(&stream, [35, 33, 64], 64, ZeroPoint::OfGroup, 0.0)?;
    }
    Ok(())
}

#[test]
fn shares_of_k_are_added() -> Result<()> {
    let stream = device(QuantizedMatmul::TARGETS)?.stream()?;
    multiplies(&stream, [2, 4, 3200], 64, ZeroPoint::Middle, 0.0)?;
    multiplies(&stream, [17, 130, 1088], 64, ZeroPoint::OfGroup, 0.0)
}

#[test]
fn many_rows_are_multiplied_by_rounded_weights() -> Result<()> {
    for device in devices(QuantizedMatmul::TARGETS)? {
        let stream = device.stream()?;
        multiplies(&stream, [257, 24, 128], 64, ZeroPoint::OfGroup, bf16::UNIT)?;
        multiplies(&stream, [257, 9, 64], 64, ZeroPoint::Middle, 0.0)?;
    }
    Ok(())
}

#[test]
fn empty_extents_give_nothing_or_zeros() -> Result<()> {
    let stream = device(QuantizedMatmul::TARGETS)?.stream()?;
    for [m, n, k] in [[0, 8, 64], [8, 0, 64], [3, 5, 0]] {
        multiplies(&stream, [m, n, k], 64, ZeroPoint::OfGroup, 0.0)?;
    }
    Ok(())
}

#[test]
fn views_are_multiplied_in_place() -> Result<()> {
    let stream = device(QuantizedMatmul::TARGETS)?.stream()?;
    let (m, n, k) = (2, 3, 64);
    let weights = Weights::new([n, k], 64, ZeroPoint::Middle).upload(&stream)?;
    // Rows of 67 begin at no multiple of 4 bytes.
    let all = numbers::<bf16>(m * 67, 1);
    let narrow: Vec<bf16> = all.chunks(67).flat_map(|row| row[3..].to_vec()).collect();
    let all = stream.upload(&all, [m, 67])?;
    let mut matmul = QuantizedMatmul::new(&stream)?;
    let mut wide = stream.full([m, n + 2], bf16::NAN)?;
    matmul.int4(&stream, &all.slice(1, 3..67)?, &weights, &mut wide.slice_mut(1, 1..n + 1)?)?;
    let mut c = stream.zeros([m, n])?;
    matmul.int4(&stream, &stream.upload(&narrow, [m, k])?, &weights, &mut c)?;
    let (wide, c) = (wide.to_vec(&stream)?, c.to_vec(&stream)?);
    for row in 0..m {
        let wide = &wide[row * (n + 2)..][..n + 2];
        assert!(wide[0].is_nan() && wide[n + 1].is_nan(), "stored beside the view");
        assert_eq!(&wide[1..=n], &c[row * n..][..n]);
    }
    Ok(())
}

#[test]
fn nan_and_infinities_spread_as_in_sums() -> Result<()> {
    let stream = device(QuantizedMatmul::TARGETS)?.stream()?;
    let weights = stream.full([2, 64], bf16::ONE)?;
    let weights = Int4Weights::quantize(&stream, &weights, 64, ZeroPoint::Middle)?;
    let mut a = vec![bf16::ONE; 3 * 64];
    a[5] = bf16::INFINITY;
    a[64 + 6] = bf16::NAN;
    let mut c = stream.zeros([3, 2])?;
    let a = stream.upload(&a, [3, 64])?;
    QuantizedMatmul::new(&stream)?.int4(&stream, &a, &weights, &mut c)?;
    let c: Vec<f32> = c.to_vec(&stream)?.into_iter().map(bf16::to_f32).collect();
    assert!(c[..2].iter().all(|&x| x == f32::INFINITY), "{c:?}");
    assert!(c[2..4].iter().all(|x| x.is_nan()), "{c:?}");
    // 1/7 is rounded to a scale, of which seven are a weight.
    assert!(c[4..].iter().all(|x| (x - 64.0).abs() <= 64.0 / 256.0), "{c:?}");
    Ok(())
}

/// Checks codes, scales and zero points against the numbers that they are for, and the numbers that are made of them.
fn is_nearest(shape @ [n, k]: [usize; 2], group: usize, zero_point: ZeroPoint) -> Result<()> {
    let stream = device(QuantizedMatmul::TARGETS)?.stream()?;
    let mut x = numbers::<bf16>(n * k, 3);
    x[..group.min(n * k)].fill(bf16::ZERO);
    let weights = Int4Weights::quantize(&stream, &stream.upload(&x, shape)?, group, zero_point)?;
    let mut out = stream.full(shape, bf16::NAN)?;
    weights.dequantize(&stream, &mut out)?;
    let out = out.to_vec(&stream)?;
    let host = Weights {
        shape,
        group,
        codes: weights.codes().to_vec(&stream)?,
        scales: weights.scales().to_vec(&stream)?,
        zeros: weights.zeros().map(|zeros| zeros.to_vec(&stream)).transpose()?,
    };
    assert_eq!(host.zeros.is_some(), zero_point == ZeroPoint::OfGroup);
    for row in 0..n {
        for of_group in 0..k / group {
            let at = row * k + of_group * group;
            let numbers = &x[at..at + group];
            let low = numbers.iter().map(|x| x.to_f64()).fold(0.0, f64::min);
            let high = numbers.iter().map(|x| x.to_f64()).fold(0.0, f64::max);
            let (required, edge) = match zero_point {
                // A scale that was rounded down reaches to the largest magnitude but for its rounding.
                ZeroPoint::Middle => (high.max(-low) / 7.0, 7.0 * bf16::UNIT),
                // The zero point is rounded as well: the ends are off by half a step more.
                ZeroPoint::OfGroup => ((high - low) / 15.0, 0.5 + 15.0 * bf16::UNIT),
            };
            let required = if required == 0.0 { 1.0 } else { required };
            let scale = host.scales[of_group * n + row].to_f64();
            assert!((scale - required).abs() <= required * bf16::UNIT, "{scale} for {required}");
            for (i, x) in numbers.iter().enumerate() {
                let value = host.value(row, of_group * group + i);
                assert_eq!(out[at + i], bf16::from_f64(value), "{row}, {of_group}, {i}");
                let x = x.to_f64();
                // In the middle of the range there are no ends.
                let edge = if x.abs() < required { 0.0 } else { edge };
                let off = (x - value).abs();
                assert!(off <= scale * (0.5 + edge + 2f64.powi(-20)), "{value} for {x}");
            }
        }
    }
    Ok(())
}

#[test]
fn codes_are_the_nearest() -> Result<()> {
    is_nearest([33, 128], 64, ZeroPoint::Middle)?;
    is_nearest([5, 256], 128, ZeroPoint::OfGroup)?;
    is_nearest([3, 64], 64, ZeroPoint::OfGroup)?;
    is_nearest([0, 64], 64, ZeroPoint::OfGroup)?;
    is_nearest([3, 0], 64, ZeroPoint::Middle)
}

#[test]
fn shapes_that_do_not_fit_are_refused() -> Result<()> {
    let stream = device(QuantizedMatmul::TARGETS)?.stream()?;
    let new = |codes: [usize; 2], scales: [usize; 2], group| {
        Int4Weights::new(stream.zeros(codes)?, stream.zeros(scales)?, None, group)
    };
    let refused = |result: Result<Int4Weights>| matches!(result, Err(Error::Shape { .. }));
    assert!(new([3, 64], [2, 3], 64).is_ok());
    assert!(refused(new([3, 64], [3, 2], 64)));
    assert!(refused(new([3, 64], [4, 3], 32)));
    assert!(refused(new([3, 48], [1, 3], 64)));
    assert!(refused(new([3, 64], [0, 3], 0)));
    let x = stream.zeros([3, 256])?;
    assert!(refused(Int4Weights::quantize(&stream, &x, 256, ZeroPoint::Middle)));
    let weights = new([3, 64], [2, 3], 64)?;
    let (a, mut c) = (stream.zeros([2, 64])?, stream.zeros([2, 3])?);
    let product = QuantizedMatmul::new(&stream)?.int4(&stream, &a, &weights, &mut c);
    assert!(matches!(product, Err(Error::Shape { .. })), "{product:?}");
    Ok(())
}
