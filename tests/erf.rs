//! The error function against another implementation of it, over the range of `f32`.

use std::ops::Range;

use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
fn apply(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 1024];
    out.tile(at, [1024]).store(x.tile(at, [1024]).load().erf());
}

/// How far `actual` is from the exact value, in units in the last place of the exact value.
fn ulp(actual: f32, exact: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "the nearest f32 is what is asked for")]
    let nearest = exact as f32;
    let unit = f64::from(f32::from_bits(nearest.abs().to_bits() + 1)) - f64::from(nearest.abs());
    (f64::from(actual) - exact).abs() / unit
}

/// The largest error over every `step`th `f32` of a range, with both signs.
fn largest_error(stream: &Stream, range: Range<f32>, step: usize) -> Result<f64> {
    let magnitudes = (range.start.to_bits()..range.end.to_bits()).step_by(step).map(f32::from_bits);
    let values: Vec<f32> = magnitudes.flat_map(|x| [x, -x]).collect();
    let x = stream.upload(&values, [values.len()])?;
    let mut out = stream.zeros::<f32, 1>([values.len()])?;
    apply(apply::Args { x: &x, out: &mut out }).launch(stream)?;
    let results = out.to_vec(stream)?;
    let errors = values.iter().zip(&results).map(|(&x, &actual)| {
        assert_eq!(actual.is_sign_negative(), x.is_sign_negative(), "erf({x}) is {actual}");
        ulp(actual, libm::erf(f64::from(x)))
    });
    Ok(errors.fold(0.0, f64::max))
}

/// Odd steps: all the last bits occur.
#[test]
fn the_error_is_at_most_two_ulp() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let everywhere = largest_error(&stream, 0.0..f32::INFINITY, 16_381)?;
    let where_it_bends = largest_error(&stream, 0.01..4.0, 257)?;
    assert!(everywhere.max(where_it_bends) <= 2.0, "{everywhere}, {where_it_bends} ulp");
    Ok(())
}
