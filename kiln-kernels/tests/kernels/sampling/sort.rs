//! Sorted rows against a stable sort of the host.

use half::{bf16, f16};
use kiln::prelude::{Error, Result};
use kiln_kernels::{
    Real,
    sampling::{Order, Sorter, TARGETS, sort},
};

use crate::support::{Number, device, devices, numbers};

/// Compares values and indices in both orders with those of the host, where NaN is the greatest.
fn sorts<T: Number + Real>([rows, columns]: [usize; 2], change: &dyn Fn(&mut [T])) -> Result<()> {
    for device in devices(TARGETS)? {
        let stream = device.stream()?;
        let mut host = numbers::<T>(rows * columns, 13);
        change(&mut host);
        let x = stream.upload(&host, [rows, columns])?;
        for order in [Order::Ascending, Order::Descending] {
            let mut values = stream.full([rows, columns], T::of(-9.0))?;
            let mut indices = stream.full([rows, columns], -9)?;
            sort(&stream, order, &x, &mut values, &mut indices)?;
            let (values, indices) = (values.to_vec(&stream)?, indices.to_vec(&stream)?);
            for row in 0..rows {
                let line: Vec<f64> =
                    host[row * columns..][..columns].iter().map(|x| x.value()).collect();
                let mut required: Vec<usize> = (0..columns).collect();
                // Zeros of both signs are equal, and so are all NaNs.
                let number = |i: usize| if line[i].is_nan() { f64::NAN } else { line[i] + 0.0 };
                required.sort_by(|&a, &b| match order {
                    Order::Ascending => number(a).total_cmp(&number(b)),
                    Order::Descending => number(b).total_cmp(&number(a)),
                });
                let places = row * columns..(row + 1) * columns;
                let what = format!("{order:?}, row {row} of {rows} x {columns}");
                assert!(
                    indices[places.clone()]
                        .iter()
                        .map(|&i| i as usize)
                        .eq(required.iter().copied()),
                    "{what}"
                );
                let sorted = values[places].iter().map(|x| x.value());
                let is_value =
                    |(x, &i): (f64, &usize)| x == line[i] || x.is_nan() && line[i].is_nan();
                assert!(sorted.zip(&required).all(is_value), "values: {what}");
            }
        }
    }
    Ok(())
}

#[test]
fn rows_of_any_length_are_sorted_and_equal_elements_stay_in_order() -> Result<()> {
    // bf16 has few numbers, so that many are equal.
    sorts::<bf16>([19, 61], &|_| ())?;
    sorts::<f16>([2, 900], &|_| ())?;
    sorts::<bf16>([3, 500], &|_| ())?;
    sorts::<bf16>([1, 4096], &|_| ())?;
    sorts::<f32>([3, 1], &|_| ())?;
    sorts::<f32>([0, 5], &|_| ())?;
    sorts::<f32>([5, 0], &|_| ())
}

#[test]
fn runs_of_longer_rows_are_merged() -> Result<()> {
    sorts::<f32>([1, 4097], &|_| ())?;
    sorts::<f32>([2, 12_289], &|_| ())?;
    sorts::<bf16>([3, 5000], &|_| ())?;
    sorts::<bf16>([2, 9000], &|_| ())?;
    sorts::<f16>([1, 18_500], &|x| x.iter_mut().step_by(3).for_each(|x| *x = f16::ONE))?;
    sorts::<bf16>([1, 70_001], &|_| ())
}

/// Of two runs one comes first as a whole, and words of one only are between two of the other.
#[test]
fn runs_in_order_are_merged() -> Result<()> {
    sorts::<f32>([1, 20_000], &|x| x.sort_by(f32::total_cmp))?;
    sorts::<f32>([1, 33_000], &|x| x.sort_by(|a, b| b.total_cmp(a)))?;
    sorts::<f32>([1, 16_384], &|x| x[4096..8192].fill(0.25))
}

#[test]
fn nan_infinities_and_zeros_of_both_signs_are_in_order() -> Result<()> {
    fn in_order<T: Number + Real>() -> Result<()> {
        for columns in [9, 5000] {
            sorts::<T>([1, columns], &|x| {
                let special = [
                    f64::NAN,
                    0.0,
                    f64::INFINITY,
                    -0.0,
                    -f64::NAN,
                    f64::NEG_INFINITY,
                    0.0,
                    60_000.0,
                    -60_000.0,
                ];
                x[..9].copy_from_slice(&special.map(T::of));
            })?;
        }
        Ok(())
    }
    in_order::<f32>()?;
    in_order::<bf16>()?;
    in_order::<f16>()
}

/// Scratch memory that other sorts have left, and a graph that uses it.
#[test]
fn one_scratch_serves_every_shape_and_a_recording() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let mut sorter = Sorter::new(&stream)?;
    for shape @ [rows, columns] in [[2, 8193], [3, 10], [1, 4200], [1, 18_000], [2, 8193]] {
        let mut x = stream.zeros::<f32, 2>(shape)?;
        let (mut values, mut indices) = (stream.zeros(shape)?, stream.zeros(shape)?);
        let order = Order::Descending;
        sorter.sort(&stream, order, &x, &mut values, &mut indices)?;
        let graph = stream
            .device()
            .capture(|stream| sorter.sort(stream, order, &x, &mut values, &mut indices))?;
        for seed in [1, 2] {
            let host = numbers::<f32>(rows * columns, seed);
            stream.write(&mut x, &host)?;
            graph.launch(&stream)?;
            let (mut of_call, mut from) = (stream.zeros(shape)?, stream.zeros(shape)?);
            sort(&stream, order, &x, &mut of_call, &mut from)?;
            assert_eq!(values.to_vec(&stream)?, of_call.to_vec(&stream)?, "{shape:?}, recorded");
            assert_eq!(indices.to_vec(&stream)?, from.to_vec(&stream)?, "{shape:?}, recorded");
        }
    }
    Ok(())
}

#[test]
fn extents_that_differ_are_refused() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let x = stream.zeros::<f32, 2>([3, 4])?;
    for [of_values, of_indices] in [[4, 5], [5, 4]] {
        let (mut values, mut indices) =
            (stream.zeros([3, of_values])?, stream.zeros([3, of_indices])?);
        let refused = sort(&stream, Order::Ascending, &x, &mut values, &mut indices);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    Ok(())
}
