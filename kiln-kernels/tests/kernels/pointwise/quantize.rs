//! Numbers of one byte and their scales.

use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Element, Error, Result, Stream, Target, e4m3};
use kiln_kernels::{
    Real,
    pointwise::{FLOAT8_TARGETS, Quantized, Scaling, TARGETS, dequantize, quantize},
};

use super::{roundings, subnormal};
use crate::support::{Number, assert_close, devices, numbers};

const ALL: [Scaling; 3] = [Scaling::Rows, Scaling::RowBlocks, Scaling::Squares];

/// What a quantised number is, and how far its neighbours are.
trait Stored: Quantized {
    const TARGETS: &[Target];
    fn value(self) -> f64;
    fn spacing(value: f64) -> f64;
}

impl Stored for e4m3 {
    const TARGETS: &[Target] = FLOAT8_TARGETS;

    fn value(self) -> f64 {
        self.to_f64()
    }

    /// Three bits of fraction, and no exponents below -6.
    fn spacing(value: f64) -> f64 {
        value.abs().log2().floor().max(-6.0).exp2() / 8.0
    }
}

impl Stored for i8 {
    const TARGETS: &[Target] = TARGETS;

    fn value(self) -> f64 {
        self.into()
    }

    fn spacing(_: f64) -> f64 {
        1.0
    }
}

/// The place of the scale of an element.
fn place(scaling: Scaling, columns: usize, at: usize) -> usize {
    let (row, column) = (at / columns, at % columns);
    match scaling {
        Scaling::Rows => row,
        Scaling::RowBlocks => row * columns.div_ceil(128) + column / 128,
        Scaling::Squares => row / 128 * columns.div_ceil(128) + column / 128,
    }
}

fn quantizes<T: Number + Real, Q: Stored>(
    shapes: &[[usize; 2]],
    scalings: &[Scaling],
) -> Result<()> {
    for device in devices(Q::TARGETS)? {
        let stream = device.stream()?;
        for &shape @ [rows, columns] in shapes {
            let host = numbers::<T>(rows * columns, 5);
            let x = stream.upload(&host, shape)?;
            for &scaling in scalings {
                let what = format!("{scaling:?} of {shape:?}");
                let scales_shape = scaling.scales(shape);
                let mut out = stream.zeros::<Q, 2>(shape)?;
                let mut scales = stream.full(scales_shape, f32::NAN)?;
                quantize(&stream, scaling, &x, &mut out, &mut scales)?;
                let mut back = stream.full(shape, T::of(f64::NAN))?;
                dequantize(&stream, scaling, &out, &scales, &mut back)?;
                let (out, scales) = (out.to_vec(&stream)?, scales.to_vec(&stream)?);

                let mut largest = vec![0f64; scales.len()];
                for (at, x) in host.iter().enumerate() {
                    let largest = &mut largest[place(scaling, columns, at)];
                    *largest = largest.max(x.value().abs());
                }
                // One division; without columns there are only zeros.
                let of = |largest: &f64| {
                    let scale = if *largest > 0.0 { largest / f64::from(Q::LARGEST) } else { 1.0 };
                    (scale, roundings(1) * scale)
                };
                let required: Vec<_> = largest.iter().map(of).collect();
                assert_close(&what, scales_shape[1].max(1), &scales, &required);

                for (at, (x, q)) in host.iter().zip(&out).enumerate() {
                    let exact = x.value() / f64::from(scales[place(scaling, columns, at)]);
                    // A reciprocal and a product, and then the nearest number.
                    let off = roundings(2) * exact.abs() + Q::spacing(exact) / 2.0;
                    let q = q.value();
                    assert!((q - exact).abs() <= off, "{what} at {at}: {q} for {exact}");
                }
                let required: Vec<_> = (out.iter().enumerate())
                    .map(|(at, q)| q.value() * f64::from(scales[place(scaling, columns, at)]))
                    .map(|value| (value, roundings(1) * value.abs() + subnormal::<T>()))
                    .collect();
                assert_close(&what, columns, &back.to_vec(&stream)?, &required);
            }
        }
    }
    Ok(())
}

#[test]
fn rows_and_blocks_become_float8_numbers() -> Result<()> {
    quantizes::<bf16, e4m3>(&[[5, 520], [130, 264], [3, 1], [0, 8], [8, 0]], &ALL)?;
    quantizes::<f16, e4m3>(&[[2, 131]], &ALL)?;
    quantizes::<f32, e4m3>(&[[3, 260]], &ALL)
}

#[test]
fn rows_and_blocks_become_integers() -> Result<()> {
    quantizes::<bf16, i8>(&[[5, 520], [130, 264], [3, 1], [0, 8], [8, 0]], &ALL)?;
    quantizes::<f16, i8>(&[[2, 131]], &ALL)?;
    quantizes::<f32, i8>(&[[3, 260]], &ALL)
}

#[test]
fn rows_of_any_length_have_one_scale() -> Result<()> {
    quantizes::<bf16, e4m3>(&[[3, 1024], [1, 2056], [1, 8192], [1, 16400]], &[Scaling::Rows])?;
    quantizes::<f32, i8>(&[[1, 1028], [1, 4097], [1, 8193], [1, 16385]], &[Scaling::Rows])
}

/// Rows of zeros, of a tiny number, with NaN, with an infinity, and of NaN.
fn special<Q: Stored>(check: impl Fn(&[Q], &[f32])) -> Result<()> {
    for device in devices(Q::TARGETS)? {
        let stream = device.stream()?;
        let mut host = [0.0f32; 5 * 128];
        host[512..].fill(f32::NAN);
        host[128] = 1e-40;
        host[256] = f32::NAN;
        host[257] = -2.0;
        host[384] = f32::NEG_INFINITY;
        host[385] = 1.0;
        let x = stream.upload(&host, [5, 128])?;
        for scaling in [Scaling::Rows, Scaling::RowBlocks] {
            let mut out = stream.zeros::<Q, 2>([5, 128])?;
            let mut scales = stream.zeros([5, 1])?;
            quantize(&stream, scaling, &x, &mut out, &mut scales)?;
            check(&out.to_vec(&stream)?, &scales.to_vec(&stream)?);
        }
    }
    Ok(())
}

#[test]
fn zeros_nan_and_infinities_are_quantized_as_documented() -> Result<()> {
    let scales_are_right = |scales: &[f32], largest: f32| {
        let required = [1.0, f32::MIN_POSITIVE, 2.0 / largest, f32::INFINITY, 1.0];
        assert_eq!(scales, required);
    };
    special::<e4m3>(|out, scales| {
        scales_are_right(scales, 448.0);
        assert!(out[..128].iter().all(|&x| x == e4m3::ZERO));
        // 1e-40 · 2^126 is 0.0085; the smallest numbers are multiples of 2^-9.
        assert!((out[128].to_f64() - 0.0085).abs() <= 2f64.powi(-10), "{:?}", out[128]);
        assert!(out[256].is_nan() && out[257].to_f32() == -448.0);
        assert!(out[384].is_nan() && out[385..512].iter().all(|x| x.to_f32() == 0.0));
    })?;
    special::<i8>(|out, scales| {
        scales_are_right(scales, 127.0);
        assert_eq!(out[..128], [0; 128]);
        assert_eq!(out[256..258], [0, -127]);
        assert_eq!(out[384..], [0; 256]);
    })
}

fn of<T: Element>(stream: &Stream, shape: [usize; 2]) -> Result<DeviceTensor<T, 2>> {
    stream.zeros(shape)
}

#[test]
fn extents_that_do_not_fit_are_refused() -> Result<()> {
    let stream = crate::support::device(TARGETS)?.stream()?;
    let (x, mut scales) = (of::<f32>(&stream, [3, 300])?, of::<f32>(&stream, [3, 2])?);
    for scaling in ALL {
        let mut out = of::<i8>(&stream, [3, 300])?;
        let refused = quantize(&stream, scaling, &x, &mut out, &mut scales);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
        let refused =
            dequantize(&stream, scaling, &out, &scales, &mut of::<f32>(&stream, [3, 300])?);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    let mut out = of::<i8>(&stream, [3, 301])?;
    let refused = quantize(&stream, Scaling::Rows, &x, &mut out, &mut of(&stream, [3, 1])?);
    assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    Ok(())
}
