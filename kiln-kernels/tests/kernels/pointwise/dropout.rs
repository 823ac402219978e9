//! Masks that the host computes too.

use half::{bf16, f16};
use kiln::{
    prelude::{Error, Result},
    random::Philox,
};
use kiln_kernels::{
    Real,
    pointwise::{self, Dropout, dropout},
};

use super::{roundings, subnormal};
use crate::support::{Number, assert_close, devices, numbers};

/// The probability in steps of 2^-16.
fn rounded(probability: f32) -> f64 {
    (f64::from(probability) * 65_536.0).round() / 65_536.0
}

/// Whether an element is kept, as the documentation says.
fn is_kept(mask: Dropout, columns: usize, at: usize) -> bool {
    let (row, column) = (at / columns, at % columns);
    let counter = row * columns.div_ceil(8) + column / 8;
    let words = Philox::new(mask.seed).stream(mask.offset).words_at(counter as u64);
    let word = [words.0, words.1, words.2, words.3][column % 8 / 2];
    let half = if column % 2 == 0 { word & 0xffff } else { word >> 16 };
    f64::from(half) / 65_536.0 >= rounded(mask.probability)
}

fn drops<T: Number + Real>(shapes: &[[usize; 2]]) -> Result<()> {
    for device in devices(pointwise::TARGETS)? {
        let stream = device.stream()?;
        for &shape @ [rows, columns] in shapes {
            let host = numbers::<T>(rows * columns, 1);
            let x = stream.upload(&host, shape)?;
            for probability in [0.0, 0.3, 1.0] {
                let mask = Dropout { probability, seed: 0x1234_5678_9abc_def0, offset: 1 << 40 };
                let mut out = stream.full(shape, T::of(f64::NAN))?;
                dropout(&stream, mask, &x, &mut out)?;
                // The division and the product; `1 - p` is exact.
                let of = |(at, x): (usize, &T)| {
                    let scaled = x.value() / (1.0 - rounded(probability));
                    let kept = is_kept(mask, columns, at);
                    if kept {
                        (scaled, roundings(2) * scaled.abs() + subnormal::<T>())
                    } else {
                        (0.0, 0.0)
                    }
                };
                let required: Vec<_> = host.iter().enumerate().map(of).collect();
                let what = format!("{probability} of {shape:?}");
                assert_close(&what, columns, &out.to_vec(&stream)?, &required);
            }
        }
    }
    Ok(())
}

#[test]
fn tensors_of_any_extents_lose_what_the_mask_says() -> Result<()> {
    drops::<bf16>(&[[3, 2056], [17, 136], [0, 8], [8, 0]])?;
    drops::<f16>(&[[2, 2050], [5, 1]])?;
    drops::<f32>(&[[2, 1025], [33, 6]])
}

/// A probability of single draws.
#[test]
fn the_mean_stays_where_the_probability_is_rounded() -> Result<()> {
    let stream = crate::support::device(pointwise::TARGETS)?.stream()?;
    let x = stream.full([1, 8], 1.0f32)?;
    let mut out = stream.zeros([1, 8])?;
    // 16384.3 of 65536 elements would be dropped; those that stay are worth the rest of 65536 - 16384.
    let mask = Dropout { probability: 0.250_005, seed: 7, offset: 0 };
    dropout(&stream, mask, &x, &mut out)?;
    let worth = 65_536.0 / (65_536.0 - 16_384.0);
    assert!(out.to_vec(&stream)?.into_iter().all(|y| y == 0.0 || y == worth));
    Ok(())
}

#[test]
fn about_as_many_are_dropped_as_the_probability_says() -> Result<()> {
    let stream = crate::support::device(pointwise::TARGETS)?.stream()?;
    let x = stream.full([16, 1024], 1.0f32)?;
    let mut masks = Vec::new();
    for offset in [0, 1] {
        let mut out = stream.zeros([16, 1024])?;
        dropout(&stream, Dropout { probability: 0.25, seed: 7, offset }, &x, &mut out)?;
        let mask: Vec<bool> = out.to_vec(&stream)?.into_iter().map(|x| x == 0.0).collect();
        let dropped = mask.iter().filter(|&&dropped| dropped).count();
        // Six standard deviations of 16384 draws.
        assert!(dropped.abs_diff(4096) < 333, "{dropped}");
        masks.push(mask);
    }
    assert_ne!(masks[0], masks[1]);
    Ok(())
}

#[test]
fn probabilities_outside_of_the_range_count_as_its_ends() -> Result<()> {
    let stream = crate::support::device(pointwise::TARGETS)?.stream()?;
    let x = stream.upload(&[f32::NAN, f32::INFINITY, 2.0, -3.0], [1, 4])?;
    for (probability, all) in [(-1.0, true), (f32::NAN, true), (1.5, false)] {
        let mut out = stream.full([1, 4], 9.0f32)?;
        dropout(&stream, Dropout { probability, seed: 7, offset: 0 }, &x, &mut out)?;
        let out = out.to_vec(&stream)?;
        if all {
            assert!(out[0].is_nan() && out[1..] == [f32::INFINITY, 2.0, -3.0], "{out:?}");
        } else {
            assert_eq!(out, [0.0; 4]);
        }
    }
    Ok(())
}

#[test]
fn extents_that_differ_are_refused() -> Result<()> {
    let stream = crate::support::device(pointwise::TARGETS)?.stream()?;
    let (x, mut out) = (stream.zeros::<f32, 2>([3, 4])?, stream.zeros::<f32, 2>([3, 5])?);
    let refused = dropout(&stream, Dropout { probability: 0.5, seed: 7, offset: 0 }, &x, &mut out);
    assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    Ok(())
}
