//! Rows along a permutation and back.

use half::{bf16, f16};
use kiln::prelude::{DeviceTensor, Error, Result};
use kiln_kernels::{
    Real,
    routing::{Permutation, TARGETS, permute, unpermute, unpermute_backward},
};

use super::{ROUNDING, experts_of};
use crate::support::{Number, assert_close, device, devices, numbers};

/// What is compared: rows along the permutation and back, and the gradients.
fn moves<T: Number + Real>([tokens, k, experts, dim]: [usize; 4], multiple: usize) -> Result<()> {
    // f16 has numbers below which the distance no longer shrinks.
    let least = if T::of(1e-20).value() > 0.0 { 0.0 } else { 1.0 / f64::from(1 << 25) };
    for device in devices(TARGETS)? {
        let stream = device.stream()?;
        let what = format!("{tokens} tokens, {k} of {experts}, {dim} columns");
        let indices = stream.upload(&experts_of(tokens, k, experts, 5), [tokens, k])?;
        let permutation = Permutation::new(&stream, &indices, experts, multiple)?;
        let (rows, sources) =
            (permutation.rows().to_vec(&stream)?, permutation.sources().to_vec(&stream)?);
        let along = [permutation.capacity(), dim];
        let (x, weights) = (numbers::<T>(tokens * dim, 1), numbers::<f32>(tokens * k, 2));
        let y = numbers::<T>(along[0] * dim, 3);
        let (x_there, weights_there, y_there) = (
            stream.upload(&x, [tokens, dim])?,
            stream.upload(&weights, [tokens, k])?,
            stream.upload(&y, along)?,
        );
        let choice_of = |row: usize| usize::try_from(sources[row]).ok();
        let row_of = |choice: usize| usize::try_from(rows[choice]).ok();

        // To experts: copies, or one rounding of a product.
        let scaled = |weights: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
            let element = |at: usize| match choice_of(at / dim) {
                None => (0.0, 0.0),
                Some(choice) => {
                    let value = x[choice / k * dim + at % dim].value() * weights(choice);
                    (value, ROUNDING * value.abs() + least)
                }
            };
            (0..along[0] * dim).map(element).collect()
        };
        let mut out = stream.full(along, T::of(f64::NAN))?;
        permute(&stream, &permutation, &x_there, None, &mut out)?;
        let copies: Vec<f64> = scaled(&|_| 1.0).into_iter().map(|(value, _)| value).collect();
        let actual: Vec<f64> = out.to_vec(&stream)?.into_iter().map(T::value).collect();
        assert!(actual == copies, "copies: {what}");
        permute(&stream, &permutation, &x_there, Some(&weights_there), &mut out)?;
        let required = scaled(&|choice| weights[choice].into());
        assert_close(&what, dim, &out.to_vec(&stream)?, &required);

        // From experts: a product and an addition for each choice, none above their number.
        for weighted in [false, true] {
            let element = |at: usize| {
                let part = |choice: usize| {
                    let weight = if weighted { weights[choice].into() } else { 1.0 };
                    row_of(choice).map_or(0.0, |row| weight * y[row * dim + at % dim].value())
                };
                let value: f64 = (at / dim * k..(at / dim + 1) * k).map(part).sum();
                (value, 2.0 * (k * k) as f64 * ROUNDING + least)
            };
            let required: Vec<_> = (0..tokens * dim).map(element).collect();
            let mut out = stream.full([tokens, dim], T::of(f64::NAN))?;
            let weights = weighted.then_some(&weights_there as _);
            unpermute(&stream, &permutation, &y_there, weights, &mut out)?;
            assert_close(&format!("sums: {what}"), dim, &out.to_vec(&stream)?, &required);
        }

        // The gradients, of which `x` is that of the result.
        let mut grad_y = stream.full(along, T::of(f64::NAN))?;
        let mut grad_weights = stream.full([tokens, k], f32::NAN)?;
        unpermute_backward(
            &stream,
            &permutation,
            &y_there,
            &weights_there,
            &x_there,
            &mut grad_y,
            &mut grad_weights,
        )?;
        let required = scaled(&|choice| weights[choice].into());
        assert_close(&format!("grad_x: {what}"), dim, &grad_y.to_vec(&stream)?, &required);
        let element = |choice: usize| {
            let Some(row) = row_of(choice) else { return (0.0, 0.0) };
            let token = &x[choice / k * dim..][..dim];
            let products = y[row * dim..][..dim].iter().zip(token);
            let products: Vec<f64> = products.map(|(y, x)| y.value() * x.value()).collect();
            let sizes: f64 = products.iter().map(|x| x.abs()).sum();
            // A thread adds 8 of 1024 columns; then come 5 steps within a warp and 4 warps.
            let additions = 8.0 * dim.div_ceil(1024) as f64 + 9.0;
            (products.iter().sum(), (additions + 1.0) * ROUNDING * sizes)
        };
        let required: Vec<_> = (0..tokens * k).map(element).collect();
        assert_close(&format!("dw: {what}"), k.max(1), &grad_weights.to_vec(&stream)?, &required);
    }
    Ok(())
}

#[test]
fn rows_of_any_length_go_to_experts_and_back() -> Result<()> {
    moves::<bf16>([5, 2, 4, 2056], 1)?;
    moves::<bf16>([9, 10, 4, 136], 8)?;
    moves::<f16>([7, 3, 65, 131], 1)?;
    moves::<f32>([6, 1, 3, 2049], 2)?;
    moves::<f32>([0, 2, 3, 8], 4)?;
    moves::<f32>([3, 2, 3, 0], 1)?;
    moves::<f32>([3, 0, 3, 5], 2)
}

#[test]
fn a_choice_without_a_row_adds_nothing_even_with_an_infinite_weight() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let indices = stream.upload(&[-1, 0], [1, 2])?;
    let permutation = Permutation::new(&stream, &indices, 1, 1)?;
    let weights = stream.upload(&[f32::INFINITY, 2.0], [1, 2])?;
    let x = stream.full([permutation.capacity(), 3], 1.5f32)?;
    let mut out = stream.full([1, 3], f32::NAN)?;
    unpermute(&stream, &permutation, &x, Some(&weights), &mut out)?;
    assert_eq!(out.to_vec(&stream)?, [3.0; 3]);
    Ok(())
}

#[test]
fn extents_that_do_not_fit_are_refused() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let of = |rows: usize, columns: usize| -> Result<DeviceTensor<f32, 2>> {
        stream.zeros([rows, columns])
    };
    let p = Permutation::new(&stream, &stream.zeros::<i32, 2>([3, 2])?, 2, 1)?;
    for refused in [
        permute(&stream, &p, &of(4, 8)?, None, &mut of(6, 8)?),
        permute(&stream, &p, &of(3, 8)?, None, &mut of(7, 8)?),
        permute(&stream, &p, &of(3, 8)?, Some(&of(3, 3)?), &mut of(6, 8)?),
        unpermute(&stream, &p, &of(7, 8)?, None, &mut of(3, 8)?),
        unpermute(&stream, &p, &of(6, 8)?, None, &mut of(3, 7)?),
        unpermute(&stream, &p, &of(6, 8)?, Some(&of(2, 2)?), &mut of(3, 8)?),
    ] {
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    let (x, weights, grad) = (of(6, 8)?, of(3, 2)?, of(3, 8)?);
    for [x_rows, columns, k] in [[5, 8, 2], [6, 7, 2], [6, 8, 1]] {
        let (mut grad_x, mut grad_weights) = (of(x_rows, columns)?, of(3, k)?);
        let refused =
            unpermute_backward(&stream, &p, &x, &weights, &grad, &mut grad_x, &mut grad_weights);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    Ok(())
}
