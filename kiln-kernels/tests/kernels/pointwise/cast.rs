//! Conversions against those of the host.

use half::{bf16, f16};
use kiln::prelude::{Error, Result};
use kiln_kernels::{
    Real,
    pointwise::{self, cast},
};

use crate::support::{Number, devices, numbers};

fn casts<T: Number + Real, U: Number + Real>() -> Result<()> {
    for device in devices(pointwise::TARGETS)? {
        let stream = device.stream()?;
        for shape @ [rows, columns] in [[3, 2056], [17, 72], [2, 515], [5, 3], [0, 8], [8, 0]] {
            let mut host = numbers::<f32>(rows * columns, 1);
            for (x, of) in host.iter_mut().zip([f32::NAN, f32::INFINITY, -0.0, 65519.0, 1e-7, 3e38])
            {
                *x = of;
            }
            let host: Vec<T> = host.into_iter().map(|x| T::of(f64::from(x))).collect();
            let x = stream.upload(&host, shape)?;
            let mut out = stream.zeros::<U, 2>(shape)?;
            cast(&stream, &x, &mut out)?;
            for (x, y) in host.iter().zip(out.to_vec(&stream)?) {
                let required = U::of(x.value()).value();
                let same = required.to_bits() == y.value().to_bits();
                assert!(same || required.is_nan() && y.value().is_nan(), "{x:?}: {y:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn all_types_become_all_types() -> Result<()> {
    casts::<bf16, bf16>()?;
    casts::<bf16, f16>()?;
    casts::<bf16, f32>()?;
    casts::<f16, bf16>()?;
    casts::<f16, f16>()?;
    casts::<f16, f32>()?;
    casts::<f32, bf16>()?;
    casts::<f32, f16>()?;
    casts::<f32, f32>()
}

#[test]
fn extents_that_differ_are_refused() -> Result<()> {
    let stream = crate::support::device(pointwise::TARGETS)?.stream()?;
    let (x, mut out) = (stream.zeros::<f32, 2>([3, 4])?, stream.zeros::<f16, 2>([4, 4])?);
    let refused = cast(&stream, &x, &mut out);
    assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    Ok(())
}
