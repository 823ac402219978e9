//! Running sums.

use half::{bf16, f16};
use kiln::prelude::{Error, Result};
use kiln_kernels::{
    Real,
    routing::{Part, PrefixSums, Summand, TARGETS, prefix_sum},
};

use super::ROUNDING;
use crate::support::{Number, assert_close, device, devices, numbers};

const PARTS: [Part; 2] = [Part::Inclusive, Part::Exclusive];

fn sums<T: Number + Real + Summand>(shapes: &[[usize; 2]]) -> Result<()> {
    for device in devices(TARGETS)? {
        let stream = device.stream()?;
        for &shape @ [rows, columns] in shapes {
            let host = numbers::<T>(rows * columns, 6);
            let x = stream.upload(&host, shape)?;
            for part in PARTS {
                let mut required = Vec::new();
                for row in host.chunks(columns.max(1)) {
                    let (mut sum, mut size) = (0.0, 0.0);
                    for x in row {
                        let before = sum;
                        sum += x.value();
                        size += x.value().abs();
                        let value = if part == Part::Inclusive { sum } else { before };
                        // In each part 3 steps in a thread, 5 in a warp, 5 over all warps and 1 of two halves; 2 that join groups
                        // and parts, 5 in a warp and 7 over warps for those before; 4 that join these.
                        required.push((value, 32.0 * ROUNDING * size));
                    }
                }
                let mut out = stream.full(shape, T::of(f64::NAN))?;
                prefix_sum(&stream, part, &x, &mut out)?;
                let what = format!("{part:?} of {shape:?}");
                assert_close(&what, columns.max(1), &out.to_vec(&stream)?, &required);
            }
        }
    }
    Ok(())
}

#[test]
fn rows_of_any_length_are_summed() -> Result<()> {
    sums::<f32>(&[[35, 61], [5, 1000], [3, 4096], [2, 4100], [3, 20_001], [0, 3], [3, 0], [1, 1]])?;
    sums::<bf16>(&[[3, 64], [1, 2000], [2, 8193], [2, 9001], [2, 40_000]])?;
    sums::<f16>(&[[5, 1023], [2, 4097], [1, 16_384], [1, 16_385]])
}

#[test]
fn integers_are_summed_exactly_and_wrap() -> Result<()> {
    for device in devices(TARGETS)? {
        let stream = device.stream()?;
        for shape @ [rows, columns] in [[33, 64], [3, 700], [2, 13_000], [128, 4099]] {
            let host: Vec<i32> =
                (0..(rows * columns) as i32).map(|i| i.wrapping_mul(1_234_567)).collect();
            let x = stream.upload(&host, shape)?;
            for part in PARTS {
                let mut required = Vec::new();
                for row in host.chunks(columns) {
                    let mut sum = 0i32;
                    for &x in row {
                        let before = sum;
                        sum = sum.wrapping_add(x);
                        required.push(if part == Part::Inclusive { sum } else { before });
                    }
                }
                let mut out = stream.full(shape, -9)?;
                prefix_sum(&stream, part, &x, &mut out)?;
                assert!(out.to_vec(&stream)? == required, "{part:?} of {shape:?}");
            }
        }
    }
    Ok(())
}

/// Of two groups of 256 parts, of 8192 columns each: the last part adds a group, and none before it.
#[test]
fn parts_of_more_than_one_group_are_summed() -> Result<()> {
    // Two parts of a second group, and on one device two of a third one, which adds what two groups have published.
    for (index, device) in devices(TARGETS)?.into_iter().enumerate() {
        let stream = device.stream()?;
        let parts = if index == 0 { 513 } else { 257 };
        let shape @ [_, columns] = [1, parts * 8192 + 3];
        let host: Vec<i32> = (0..columns as i32).map(|i| i.wrapping_mul(1_234_567)).collect();
        let mut sum = 0i32;
        let add = |&x: &i32| {
            sum = sum.wrapping_add(x);
            sum
        };
        let required: Vec<i32> = host.iter().map(add).collect();
        let x = stream.upload(&host, shape)?;
        let mut out = stream.full(shape, -9)?;
        prefix_sum(&stream, Part::Inclusive, &x, &mut out)?;
        assert!(out.to_vec(&stream)? == required);
    }
    Ok(())
}

/// Whatever other sums have left in the scratch memory, and in whatever order blocks run.
#[test]
fn sums_are_the_same_in_every_run() -> Result<()> {
    for device in devices(TARGETS)? {
        let stream = device.stream()?;
        let mut sums = PrefixSums::new(&stream)?;
        let shape = [2, 70_001];
        let x = stream.upload(&numbers::<f32>(2 * 70_001, 3), shape)?;
        let other = stream.upload(&numbers::<f32>(5 * 9000, 4), [5, 9000])?;
        let mut first = Vec::new();
        for run in 0..4 {
            let mut out = stream.zeros(shape)?;
            sums.sum(&stream, Part::Inclusive, &x, &mut out)?;
            let out = out.to_vec(&stream)?;
            if run == 0 {
                first.clone_from(&out);
            }
            assert!(out == first, "run {run}");
            sums.sum(&stream, Part::Inclusive, &other, &mut stream.zeros([5, 9000])?)?;
        }
    }
    Ok(())
}

#[test]
fn sums_of_small_numbers_stay_before_a_large_one_and_an_infinite_one() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    for columns in [5, 5000, 20_000] {
        let mut host = vec![0.0f32; columns];
        host[..5].copy_from_slice(&[1.0, 1e30, -1e30, f32::INFINITY, 1.0]);
        let mut out = stream.zeros([1, columns])?;
        prefix_sum(&stream, Part::Exclusive, &stream.upload(&host, [1, columns])?, &mut out)?;
        let out = out.to_vec(&stream)?;
        assert_eq!(out[..3], [0.0, 1.0, 1e30]);
        assert!(out[3].is_finite() && out[4..].iter().all(|&x| x == f32::INFINITY));
    }
    Ok(())
}

/// Scratch memory that other sums have left, and a graph that uses it.
#[test]
fn one_scratch_serves_every_shape_and_a_recording() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let mut sums = PrefixSums::new(&stream)?;
    for shape @ [rows, columns] in [[2, 13_000], [3, 10], [1, 9000], [1, 40_000], [2, 13_000]] {
        let mut x = stream.zeros::<i32, 2>(shape)?;
        let mut out = stream.zeros(shape)?;
        sums.sum(&stream, Part::Inclusive, &x, &mut out)?;
        let graph =
            stream.device().capture(|stream| sums.sum(stream, Part::Inclusive, &x, &mut out))?;
        for step in [1, 7] {
            let host: Vec<i32> = (0..(rows * columns) as i32).map(|i| i % 100 * step).collect();
            stream.write(&mut x, &host)?;
            graph.launch(&stream)?;
            let mut of_call = stream.zeros(shape)?;
            prefix_sum(&stream, Part::Inclusive, &x, &mut of_call)?;
            assert_eq!(out.to_vec(&stream)?, of_call.to_vec(&stream)?, "{shape:?}, recorded");
        }
    }
    // A type of more parts finds the memory there, too.
    let mut sums = PrefixSums::new(&stream)?;
    let mut halves = stream.zeros::<bf16, 2>([1, 40_000])?;
    sums.sum(&stream, Part::Inclusive, &stream.zeros::<bf16, 2>([1, 40_000])?, &mut halves)?;
    let (x, mut out) = (stream.full([1, 40_000], 1)?, stream.zeros::<i32, 2>([1, 40_000])?);
    let graph =
        stream.device().capture(|stream| sums.sum(stream, Part::Inclusive, &x, &mut out))?;
    graph.launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?[39_999..], [40_000]);
    // Of other types in the same memory.
    let mut out = stream.zeros([1, 4100])?;
    sums.sum(&stream, Part::Exclusive, &stream.full([1, 4100], 1.0f32)?, &mut out)?;
    assert_eq!(out.to_vec(&stream)?[4099..], [4099.0]);
    Ok(())
}

#[test]
fn extents_that_differ_are_refused() -> Result<()> {
    let stream = device(TARGETS)?.stream()?;
    let x = stream.zeros::<f32, 2>([3, 4])?;
    let refused = prefix_sum(&stream, Part::Inclusive, &x, &mut stream.zeros([3, 5])?);
    assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    Ok(())
}
