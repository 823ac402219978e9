//! Products of FP8 numbers with scales.

#![expect(clippy::float_cmp, reason = "those that are compared are exact")]

use half::bf16;
use kiln::prelude::{Device, Error, Result, Target, e4m3, e5m2};
use kiln_kernels::{
    Activation, Operand,
    grouped::{Grouped, Options, Scaled},
};

use super::{BEFORE, MULTIPROCESSORS, listed};
use crate::support::{
    Float8Number, Number, assert_close, devices, float8_numbers, float8_sum, numbers,
};

/// Rows of experts, with a scale for each row of both operands, or for each expert and all of `a`.
fn product<A: Float8Number + Operand<bf16, e4m3>>(
    [rows, n, k]: [usize; 3],
    offsets: &[i32],
    each: bool,
) -> Result<()> {
    let experts = offsets.len() - 1;
    let (a, of_a) = float8_numbers::<A>(rows * k, 1);
    let (b, of_b) = float8_numbers::<e4m3>(experts * n * k, 2);
    let [down, across] = if each { [rows, n] } else { [1, 1] };
    let (row_scales, column_scales) =
        (numbers::<f32>(down, 3), numbers::<f32>(experts * across, 4));
    let at = |row| i32::try_from(row).expect("rows are few");
    let of = |row| offsets.windows(2).position(|range| (range[0]..range[1]).contains(&at(row)));
    let required: Vec<(f64, f64)> = (0..rows * n)
        .map(|at| {
            let (row, column) = (at / n, at % n);
            let Some(expert) = of(row) else { return (BEFORE, 0.0) };
            let (sum, off) =
                float8_sum(&of_a[row * k..][..k], &of_b[(expert * n + column) * k..][..k]);
            let scale = row_scales[row % down].value()
                * column_scales[expert * across + column % across].value();
            // Two products in f32.
            (sum * scale, (off + 2f64.powi(-23) * sum.abs()) * scale.abs() * 1.001)
        })
        .collect();
    for device in devices(Grouped::FLOAT8_TARGETS)? {
        let stream = device.stream()?;
        let grouped = Grouped::new(&stream)?.with_multiprocessors(MULTIPROCESSORS);
        let (a, b) = (stream.upload(&a, [rows, k])?, stream.upload(&b, [experts, n, k])?);
        let row_scales = stream.upload(&row_scales, [down, 1])?;
        let column_scales = stream.upload(&column_scales, [experts, across, 1])?;
        let on_device = stream.upload(offsets, [experts + 1])?;
        let mut c = stream.full([rows, n], bf16::of(BEFORE))?;
        let a = Scaled { numbers: &a, scales: &row_scales };
        let b = Scaled { numbers: &b, scales: &column_scales };
        grouped.product_float8(&stream, a, b, &on_device, &mut c)?;
        let what = format!("{rows} {n} {k} {offsets:?}");
        assert_close(&what, n, &c.to_vec(&stream)?, &required);
    }
    Ok(())
}

#[test]
fn experts_with_few_rows() -> Result<()> {
    product::<e4m3>([30, 136, 784], &[0, 3, 3, 20, 28], true)?;
    product::<e4m3>([30, 24, 16], &[2, 3, 30], false)
}

#[test]
fn experts_with_more_rows() -> Result<()> {
    product::<e4m3>([70, 72, 144], &[0, 66, 70], true)
}

#[test]
fn experts_with_many_rows() -> Result<()> {
    product::<e4m3>([150, 264, 160], &[0, 5, 147], true)
}

/// Extents that TMA does not take, and offsets that lead out of the rows.
#[test]
fn odd_extents() -> Result<()> {
    product::<e4m3>([19, 13, 37], &[0, 4, 19], true)?;
    product::<e4m3>([140, 13, 150], &[0, 140], false)
}

/// Gradients of rows: few of each expert, more and many; extents that TMA does not take.
#[test]
fn rows_of_e5m2() -> Result<()> {
    product::<e5m2>([30, 136, 784], &[0, 3, 3, 20, 28], true)?;
    product::<e5m2>([70, 72, 144], &[0, 66, 70], false)?;
    product::<e5m2>([150, 264, 160], &[0, 5, 147], true)?;
    product::<e5m2>([19, 13, 37], &[0, 4, 19], true)?;
    product::<e5m2>([1, 8, 16], &[0, 1], true)
}

/// Rows that one list names go where another one says, with all that an epilogue does.
fn lists<A: Float8Number + Operand<bf16, e4m3>>(
    [rows, n, k]: [usize; 3],
    offsets: &[i32],
    [gathers, scatters]: [bool; 2],
) -> Result<()> {
    let experts = offsets.len() - 1;
    // Half of the rows of `a` are not named.
    let tokens = if gathers { rows / 2 } else { rows };
    let (a, of_a) = float8_numbers::<A>(tokens * k, 1);
    let (b, of_b) = float8_numbers::<e4m3>(experts * n * k, 2);
    let (row_scales, column_scales) = (numbers::<f32>(tokens, 3), numbers::<f32>(experts * n, 4));
    let from: Vec<i32> = (0..rows).map(|i| listed(i, i * 5 % tokens)).collect();
    let outputs = if scatters { rows + 3 } else { rows };
    assert!(!outputs.is_multiple_of(13), "rows come twice");
    let to: Vec<i32> = (0..rows).map(|i| listed(i + 3, (i * 13 + 2) % outputs)).collect();
    let (factors, bias) = (numbers::<f32>(rows, 5), numbers::<bf16>(experts * n, 6));

    let at = |row| i32::try_from(row).expect("rows are few");
    let of = |row| offsets.windows(2).position(|range| (range[0]..range[1]).contains(&at(row)));
    let mut required = vec![(BEFORE, 0.0); outputs * n];
    for i in 0..rows {
        let source = if gathers { usize::try_from(from[i]) } else { Ok(i) };
        let target = if scatters { usize::try_from(to[i]) } else { Ok(i) };
        let (Some(expert), Ok(target)) = (of(i), target) else { continue };
        if target >= outputs {
            continue;
        }
        for column in expert * n..(expert + 1) * n {
            let (sum, off) = match source {
                Ok(row) if row < tokens => {
                    let (sum, off) = float8_sum(&of_a[row * k..][..k], &of_b[column * k..][..k]);
                    let scale = row_scales[row].value() * column_scales[column].value();
                    (sum * scale, off * scale.abs())
                }
                _ => (0.0, 0.0),
            };
            let x = 0.5 * sum + bias[column].value();
            let factor = f64::from(factors[i]);
            // Five roundings of f32: products with both scales and with that of all, the sum with the bias, and the product with the
            // weight. None is of a number larger than these.
            let roundings = 5.0 * 2f64.powi(-24) * (0.5 * sum.abs() + x.abs());
            let off = factor.abs() * (0.5 * off + roundings) * 1.001;
            required[target * n + column % n] = (factor * x.max(0.0), off);
        }
    }
    for device in devices(Grouped::FLOAT8_TARGETS)? {
        let stream = device.stream()?;
        let a = stream.upload(&a, [tokens, k])?;
        let b = stream.upload(&b, [experts, n, k])?;
        let row_scales = stream.upload(&row_scales, [tokens, 1])?;
        let column_scales = stream.upload(&column_scales, [experts, n, 1])?;
        let ends = stream.upload(offsets, [experts + 1])?;
        let (gather, scatter) = (stream.upload(&from, [rows])?, stream.upload(&to, [rows])?);
        let weights = stream.upload(&factors, [rows])?;
        let bias = stream.upload(&bias, [experts, n])?;
        let options = Options {
            scale: 0.5,
            bias: Some(&bias),
            activation: Some(Activation::Relu),
            weights: Some(&weights),
            gather: gathers.then_some(&gather),
            scatter: scatters.then_some(&scatter),
        };
        let mut c = stream.full([outputs, n], bf16::of(BEFORE))?;
        let a = Scaled { numbers: &a, scales: &row_scales };
        let b = Scaled { numbers: &b, scales: &column_scales };
        let grouped = Grouped::new(&stream)?.with_multiprocessors(MULTIPROCESSORS);
        grouped.product_float8_with(&stream, a, b, &ends, &mut c, options)?;
        let what = format!("{rows} {n} {k} {offsets:?} {gathers} {scatters} on {device}");
        assert_close(&what, n, &c.to_vec(&stream)?, &required);
    }
    Ok(())
}

#[test]
fn few_rows_are_gathered_and_scattered() -> Result<()> {
    lists::<e4m3>([32, 136, 1200], &[0, 3, 3, 20, 28], [true, true])?;
    lists::<e5m2>([32, 136, 272], &[0, 3, 3, 20, 28], [true, true])
}

#[test]
fn many_rows_are_gathered_and_scattered() -> Result<()> {
    // More steps than there are buffers, and fewer.
    lists::<e4m3>([152, 24, 912], &[2, 145], [true, true])?;
    lists::<e5m2>([152, 24, 48], &[2, 20, 145], [true, true])?;
    // Tiles of 128 columns, which are taken where they are enough for all multiprocessors.
    let offsets: Vec<i32> = (0..=40).map(|expert| 17 * expert).collect();
    lists::<e4m3>([690, 136, 48], &offsets, [true, true])
}

#[test]
fn rows_are_gathered_or_scattered() -> Result<()> {
    lists::<e4m3>([30, 24, 48], &[1, 20, 30], [true, false])?;
    lists::<e5m2>([30, 24, 48], &[0, 30], [false, true])?;
    lists::<e4m3>([30, 23, 21], &[0, 19, 30], [true, true])?;
    lists::<e4m3>([2, 8, 16], &[0, 2], [true, true])
}

#[test]
fn epilogues_without_lists() -> Result<()> {
    lists::<e4m3>([30, 24, 48], &[0, 19, 30], [false, false])?;
    lists::<e4m3>([140, 136, 48], &[0, 130], [false, false])?;
    lists::<e5m2>([140, 13, 37], &[0, 130], [false, false])
}

#[test]
fn views_and_transposed_weights() -> Result<()> {
    let (of_a, of_b) = (float8_numbers::<e4m3>(4 * 32, 1), float8_numbers::<e4m3>(32 * 8, 2));
    for device in devices(Grouped::FLOAT8_TARGETS)? {
        let stream = device.stream()?;
        let (a, b) = (stream.upload(&of_a.0, [4, 32])?, stream.upload(&of_b.0, [1, 32, 8])?);
        let one = (stream.full([1, 1], 1.0)?, stream.full([1, 1, 1], 1.0)?);
        let offsets = stream.upload(&[0, 9], [2])?;
        let mut wide = stream.full([4, 11], bf16::of(BEFORE))?;
        let (turned, mut c) = (b.permute([0, 2, 1])?, wide.slice_mut(1, 3..11)?);
        let a = Scaled { numbers: &a, scales: &one.0 };
        let b = Scaled { numbers: &turned, scales: &one.1 };
        Grouped::new(&stream)?.product_float8(&stream, a, b, &offsets, &mut c)?;
        let all = wide.to_vec(&stream)?;
        let required: Vec<(f64, f64)> = (0..44usize)
            .map(|at| {
                let (row, column) = (at / 11, at % 11);
                let Some(column) = column.checked_sub(3) else { return (BEFORE, 0.0) };
                let of_column: Vec<f64> = (0..32).map(|k| of_b.1[k * 8 + column]).collect();
                float8_sum(&of_a.1[row * 32..][..32], &of_column)
            })
            .collect();
        assert_close("a view", 11, &all, &required);
    }
    Ok(())
}

#[test]
fn nothing_and_what_does_not_fit() -> Result<()> {
    for device in devices(Grouped::FLOAT8_TARGETS)? {
        let stream = device.stream()?;
        let grouped = Grouped::new(&stream)?;
        let run = |[experts, rows, n, k]: [usize; 4], depth, row_scales, column_scales| {
            let a = stream.zeros::<e4m3, 2>([rows, k])?;
            let b = stream.zeros([experts, n, depth])?;
            let (of_a, of_b) = (stream.full(row_scales, 1.0)?, stream.full(column_scales, 1.0)?);
            let ends = vec![i32::try_from(rows).expect("rows are few"); experts];
            let offsets = stream.upload(&[vec![0], ends].concat(), [experts + 1])?;
            let mut c = stream.full([rows, n], bf16::of(BEFORE))?;
            let a = Scaled { numbers: &a, scales: &of_a };
            let b = Scaled { numbers: &b, scales: &of_b };
            grouped.product_float8(&stream, a, b, &offsets, &mut c)?;
            c.to_vec(&stream)
        };
        for shape @ [experts, rows, n, k] in
            [[0, 4, 8, 16], [2, 0, 8, 16], [2, 4, 0, 16], [2, 4, 8, 0]]
        {
            let c = run(shape, k, [rows, 1], [experts, n, 1])?;
            // Without experts no row is stored.
            let required = if experts == 0 { BEFORE } else { 0.0 };
            assert!(c.into_iter().all(|x| x.value() == required), "{shape:?}");
        }
        let shape = [2, 4, 8, 16];
        for refused in [
            run(shape, 32, [4, 1], [2, 8, 1]),
            run(shape, 16, [5, 1], [2, 8, 1]),
            run(shape, 16, [4, 1], [2, 7, 1]),
            run(shape, 16, [4, 2], [2, 8, 1]),
        ] {
            assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
        }
    }
    Ok(())
}

#[test]
fn a_nan_stays_in_its_row() -> Result<()> {
    for device in devices(Grouped::FLOAT8_TARGETS)? {
        let stream = device.stream()?;
        let mut a = vec![e4m3::from_f32(1.0); 10 * 32];
        // The first row of the second expert, which the tiles of the first one reach.
        a[5 * 32 + 3] = e4m3::from_f32(f32::NAN);
        let (a, b) = (stream.upload(&a, [10, 32])?, stream.full([2, 16, 32], e4m3::from_f32(2.0))?);
        let one = (stream.full([1, 1], 1.0)?, stream.full([1, 1, 1], 1.0)?);
        let offsets = stream.upload(&[0, 5, 10], [3])?;
        let mut c = stream.zeros::<bf16, 2>([10, 16])?;
        let a = Scaled { numbers: &a, scales: &one.0 };
        let b = Scaled { numbers: &b, scales: &one.1 };
        Grouped::new(&stream)?.product_float8(&stream, a, b, &offsets, &mut c)?;
        for (at, x) in c.to_vec(&stream)?.into_iter().enumerate() {
            let right = if at / 16 == 5 { x.is_nan() } else { x.value() == 64.0 };
            assert!(right, "{at}: {x}");
        }
    }
    Ok(())
}

#[test]
fn a_gpu_without_float8_refuses_it() -> Result<()> {
    if std::env::var_os("KILN_DEVICE").is_some() {
        return Ok(()); // it has FP8
    }
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let (a, b) = (stream.zeros::<e4m3, 2>([2, 16])?, stream.zeros::<e4m3, 3>([1, 8, 16])?);
    let one = (stream.full([1, 1], 1.0)?, stream.full([1, 1, 1], 1.0)?);
    let offsets = stream.upload(&[0, 2], [2])?;
    let mut c = stream.zeros::<bf16, 2>([2, 8])?;
    let a = Scaled { numbers: &a, scales: &one.0 };
    let b = Scaled { numbers: &b, scales: &one.1 };
    let refused = Grouped::new(&stream)?.product_float8(&stream, a, b, &offsets, &mut c);
    assert!(matches!(refused, Err(Error::TargetNotRunnable { .. })), "{refused:?}");
    Ok(())
}
