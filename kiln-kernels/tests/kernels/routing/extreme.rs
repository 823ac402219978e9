//! Positions of extremes.

use half::{bf16, f16};
use kiln::prelude::{Error, Result};
use kiln_kernels::{
    Real,
    routing::{TARGETS, argmax, argmin},
};

use crate::support::{Number, device, devices, numbers};

/// The first greatest element, or the first NaN.
fn greatest(row: impl Iterator<Item = f64>) -> i32 {
    let mut best: Option<(usize, f64)> = None;
    for (at, x) in row.enumerate() {
        if best.is_none_or(|(_, y)| x > y || x.is_nan() && !y.is_nan()) {
            best = Some((at, x));
        }
    }
    best.map_or(-1, |(at, _)| at as i32)
}

fn finds<T: Number + Real>([rows, columns]: [usize; 2], change: &dyn Fn(&mut [T])) -> Result<()> {
    for device in devices(TARGETS)? {
        let stream = device.stream()?;
        let mut host = numbers::<T>(rows * columns, 4);
        change(&mut host);
        let x = stream.upload(&host, [rows, columns])?;
        let (mut most, mut least) = (stream.full([rows], -9)?, stream.full([rows], -9)?);
        argmax(&stream, &x, &mut most)?;
        argmin(&stream, &x, &mut least)?;
        let of = |sign: f64| -> Vec<i32> {
            let of_row = |row: &[T]| greatest(row.iter().map(|x| x.value() * sign));
            host.chunks(columns).map(of_row).collect()
        };
        assert_eq!(most.to_vec(&stream)?, of(1.0), "the greatest of {rows} x {columns}");
        assert_eq!(least.to_vec(&stream)?, of(-1.0), "the least of {rows} x {columns}");
    }
    Ok(())
}

#[test]
fn the_first_greatest_and_least_elements_are_found() -> Result<()> {
    // bf16 has few numbers in 0.5 .. 1, so that the extremes of long rows repeat.
    finds::<bf16>([3, 33_000], &|_| ())?;
    finds::<bf16>([33, 61], &|_| ())?;
    finds::<f16>([2, 20_000], &|_| ())?;
    finds::<f32>([9, 1000], &|_| ())?;
    finds::<f32>([2, 16_385], &|x| x[16_384] = 7.0)?;
    finds::<f32>([0, 3], &|_| ())?;
    finds::<f32>([40, 1], &|_| ())
}

#[test]
fn nan_counts_and_so_do_infinities_and_zeros_of_both_signs() -> Result<()> {
    for columns in [5, 1029, 17_000] {
        finds::<f32>([1, columns], &|x| (x[2], x[3], x[4]) = (f32::INFINITY, f32::NAN, -f32::NAN))?;
        finds::<f32>([1, columns], &|x| x.fill(f32::NEG_INFINITY))?;
        finds::<f32>([1, columns], &|x| {
            x.fill(-0.0);
            x[3] = 0.0;
        })?;
    }
    Ok(())
}

#[test]
fn extents_that_do_not_fit_are_refused() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    for [rows, columns] in [[3, 4], [2, 0]] {
        let x = stream.zeros::<f32, 2>([rows, columns])?;
        let refused = argmax(&stream, &x, &mut stream.zeros([2])?);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
        let refused = argmin(&stream, &x, &mut stream.zeros([2])?);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    Ok(())
}
