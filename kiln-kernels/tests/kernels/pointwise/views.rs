//! Views of any strides give what contiguous tensors do, bit for bit.

use half::bf16;
use kiln::prelude::{DeviceTensor, Result, Stream};
use kiln_kernels::Activation;
use kiln_kernels::pointwise::{
    Dropout, FLOAT8_TARGETS, Scaling, activate, cast, dequantize, dropout, gate, gate_backward,
    quantize, transpose,
};

use crate::support::{devices, numbers};

const SHAPE: [usize; 2] = [5, 136];

/// Runs a function on contiguous tensors, on columns that begin at an odd place of wider rows, and on columns that are rows in memory.
fn is_the_same(
    what: &str,
    of: impl Fn(&Stream, &DeviceTensor<bf16, 2>, &mut DeviceTensor<bf16, 2>) -> Result<()>,
) -> Result<()> {
    let [rows, columns] = SHAPE;
    for device in devices(FLOAT8_TARGETS)? {
        let stream = device.stream()?;
        let host = numbers::<bf16>(rows * columns, 1);
        let x = stream.upload(&host, SHAPE)?;
        let mut out = stream.full(SHAPE, bf16::NAN)?;
        of(&stream, &x, &mut out)?;
        let required = out.to_vec(&stream)?;

        let mut wide = vec![bf16::NAN; rows * 300];
        for (wide, row) in wide.chunks_mut(300).zip(host.chunks(columns)) {
            wide[3..][..columns].copy_from_slice(row);
        }
        let wide = stream.upload(&wide, [rows, 300])?;
        let mut out = stream.full([rows, 301], bf16::from_f32(7.0))?;
        let mut part = out.slice_mut(1, 5..5 + columns)?;
        let wide = wide.slice(1, 3..3 + columns)?;
        of(&stream, &wide, &mut part)?;
        for (row, required) in out.to_vec(&stream)?.chunks(301).zip(required.chunks(columns)) {
            let (before, rest) = row.split_at(5);
            let (row, after) = rest.split_at(columns);
            assert!(row == required, "{what}: columns of wider rows");
            let untouched = before.iter().chain(after).all(|x| x.to_f32() == 7.0);
            assert!(untouched, "{what}: stored beside the view");
        }

        let turned: Vec<bf16> =
            (0..rows * columns).map(|at| host[at % rows * columns + at / rows]).collect();
        let turned = stream.upload(&turned, [columns, rows])?;
        let mut out = stream.full([columns, rows], bf16::NAN)?;
        of(&stream, &turned.transpose(), &mut out.transpose_mut())?;
        let out = out.to_vec(&stream)?;
        let same =
            (0..rows * columns).all(|at| out[at % columns * rows + at / columns] == required[at]);
        assert!(same, "{what}: columns that are rows in memory");
    }
    Ok(())
}

#[test]
fn activations_take_views() -> Result<()> {
    is_the_same("an activation", |stream, x, out| activate(stream, Activation::Silu, x, out))?;
    is_the_same("a gate", |stream, x, out| gate(stream, Activation::Gelu, x, x, out))?;
    is_the_same("derivatives", |stream, x, out| {
        let mut of_up = stream.zeros(SHAPE)?;
        gate_backward(stream, Activation::GeluTanh, [x, x], x, out, &mut of_up)
    })
}

#[test]
fn dropout_and_conversions_take_views() -> Result<()> {
    let mask = Dropout { probability: 0.4, seed: 3, offset: 2 };
    is_the_same("dropout", |stream, x, out| dropout(stream, mask, x, out))?;
    is_the_same("conversions", |stream, x, out| {
        let mut wide = stream.zeros::<f32, 2>([136, 5])?;
        cast(stream, x, &mut wide.transpose_mut())?;
        cast(stream, &wide.transpose(), out)
    })
}

#[test]
fn quantisation_takes_views() -> Result<()> {
    for scaling in [Scaling::Rows, Scaling::RowBlocks, Scaling::Squares] {
        is_the_same("quantisation", |stream, x, out| {
            let mut numbers = stream.zeros::<i8, 2>([136, 5])?;
            let [rows, columns] = scaling.scales(SHAPE);
            let mut scales = stream.zeros::<f32, 2>([columns, rows])?;
            let (mut numbers, mut scales) = (numbers.transpose_mut(), scales.transpose_mut());
            quantize(stream, scaling, x, &mut numbers, &mut scales)?;
            dequantize(stream, scaling, &numbers, &scales, out)
        })?;
    }
    Ok(())
}

#[test]
fn transposition_takes_views() -> Result<()> {
    is_the_same("transposition", |stream, x, out| {
        let [rows, columns] = SHAPE;
        let mut turned = stream.zeros::<bf16, 3>([1, columns, rows])?;
        let of = |x: &DeviceTensor<bf16, 2>| {
            let [of_row, of_column] = x.strides();
            ([1, rows, columns], [0, of_row, of_column])
        };
        let (shape, strides) = of(x);
        transpose(stream, &x.as_strided(shape, strides)?, &mut turned)?;
        let (shape, strides) = of(out);
        transpose(stream, &turned, &mut out.as_strided_mut(shape, strides)?)
    })
}

#[test]
fn there_may_be_more_rows_than_an_axis_of_the_grid_has_blocks() -> Result<()> {
    let stream = crate::support::device(FLOAT8_TARGETS)?.stream()?;
    let count = 16 * 65536 + 1;
    let (x, mut out) = (stream.full([count, 1], 3.0f32)?, stream.zeros([count, 1])?);
    activate(&stream, Activation::ReluSquared, &x, &mut out)?;
    assert!(out.to_vec(&stream)?.iter().all(|&x| x == 9.0));
    Ok(())
}
