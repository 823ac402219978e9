//! Products of the rows of experts, against sums in f64.

#![expect(clippy::many_single_char_names, reason = "sums are small; the letters of a product")]

use half::{bf16, f16};
use kiln::prelude::{Device, DeviceTensor, Error, Result, Stream, Target};
use kiln_kernels::{
    Activation, Half,
    grouped::{Grouped, Options},
};

use crate::support::{Number, assert_close, devices, numbers};

mod float8;

/// What a tensor holds before it is written: rows of no expert keep it.
const BEFORE: f64 = 7.0;

/// So few that each computes several tiles.
const MULTIPROCESSORS: usize = 3;

/// Rows of experts, their gradients, and the weights.
struct Case<T> {
    stream: Stream,
    grouped: Grouped,
    shape: [usize; 3],
    a: Vec<T>,
    b: Vec<T>,
    dc: Vec<T>,
    offsets: Vec<i32>,
    /// The expert of each row.
    experts: Vec<Option<usize>>,
}

/// A sum of products, and how far it may be off before it is rounded. Products are exact in f32; each of the sums rounds by 2^-24 of a sum
/// below the sum of magnitudes, and Hopper cuts off twice that.
fn sum<T: Number>(terms: impl Iterator<Item = (T, T)>) -> (f64, f64) {
    let (mut sum, mut size, mut count) = (0.0, 0.0, 0);
    for (x, y) in terms {
        let term = x.value() * y.value();
        sum += term;
        size += term.abs();
        count += 1;
    }
    (sum, f64::from(count) * 2f64.powi(-23) * size)
}

impl<T: Number + Half> Case<T> {
    fn new(device: &Device, [rows, n, k]: [usize; 3], offsets: &[i32]) -> Result<Case<T>> {
        let stream = device.stream()?;
        let at = |row| i32::try_from(row).expect("rows are few");
        let of = |row| offsets.windows(2).position(|range| (range[0]..range[1]).contains(&at(row)));
        Ok(Case {
            grouped: Grouped::new(&stream)?.with_multiprocessors(MULTIPROCESSORS),
            stream,
            shape: [rows, n, k],
            a: numbers(rows * k, 1),
            b: numbers((offsets.len() - 1) * n * k, 2),
            dc: numbers(rows * n, 3),
            offsets: offsets.to_vec(),
            experts: (0..rows).map(of).collect(),
        })
    }

    fn rows_of(&self, expert: usize) -> impl Iterator<Item = usize> {
        (0..self.shape[0]).filter(move |&row| self.experts[row] == Some(expert))
    }

    fn a(&self) -> Result<DeviceTensor<T, 2>> {
        let [rows, _, k] = self.shape;
        self.stream.upload(&self.a, [rows, k])
    }

    fn b(&self) -> Result<DeviceTensor<T, 3>> {
        let [_, n, k] = self.shape;
        self.stream.upload(&self.b, [self.offsets.len() - 1, n, k])
    }

    fn dc(&self) -> Result<DeviceTensor<T, 2>> {
        let [rows, n, _] = self.shape;
        self.stream.upload(&self.dc, [rows, n])
    }

    /// The offsets, with more numbers up to a multiple of 4 if the rows are one too: 16 bytes are copied at a time then.
    fn offsets(&self) -> Result<DeviceTensor<i32, 1>> {
        let mut offsets = self.offsets.clone();
        if self.shape[0].is_multiple_of(4) {
            offsets.resize(offsets.len().next_multiple_of(4), 1);
        }
        self.stream.upload(&offsets, [offsets.len()])
    }

    fn unwritten<const R: usize>(&self, shape: [usize; R]) -> Result<DeviceTensor<T, R>> {
        self.stream.full(shape, T::of(BEFORE))
    }

    /// `a[row] · b[expert][column]`.
    fn c_at(&self, expert: usize, row: usize, column: usize) -> (f64, f64) {
        let [_, n, k] = self.shape;
        let b = &self.b[(expert * n + column) * k..][..k];
        sum(self.a[row * k..][..k].iter().zip(b).map(|(&x, &y)| (x, y)))
    }

    /// `dc[row] · b[expert][.., column]`.
    fn da_at(&self, expert: usize, row: usize, column: usize) -> (f64, f64) {
        let [_, n, k] = self.shape;
        sum((0..n).map(|i| (self.dc[row * n + i], self.b[(expert * n + i) * k + column])))
    }

    /// Compares rows, of which those of no expert are as they were.
    fn check(
        &self,
        what: &str,
        actual: &DeviceTensor<T, 2>,
        at: impl Fn(usize, usize, usize) -> (f64, f64),
    ) -> Result<()> {
        let columns = actual.shape()[1];
        let place = |i| (i / columns, i % columns);
        let required: Vec<(f64, f64)> = (0..actual.len())
            .map(place)
            .map(|(row, column)| self.experts[row].map_or((BEFORE, 0.0), |e| at(e, row, column)))
            .collect();
        let what = format!("{what} {:?} {:?}", self.shape, self.offsets);
        assert_close(&what, columns, &actual.to_vec(&self.stream)?, &required);
        Ok(())
    }
}

impl<T: Number + Half> Case<T> {
    /// Compares gradients of weights.
    fn check_weights(&self, what: &str, db: &DeviceTensor<T, 3>) -> Result<()> {
        let [_, n, k] = self.shape;
        let required: Vec<(f64, f64)> = (0..db.len())
            .map(|at| {
                let (expert, i, j) = (at / k / n, at / k % n, at % k);
                sum(self.rows_of(expert).map(|row| (self.dc[row * n + i], self.a[row * k + j])))
            })
            .collect();
        let what = format!("{what} {:?} {:?}", self.shape, self.offsets);
        assert_close(&what, k, &db.to_vec(&self.stream)?, &required);
        Ok(())
    }

    /// The product and its derivatives.
    fn check_all(&self) -> Result<()> {
        let (stream, grouped, [rows, n, k]) = (&self.stream, &self.grouped, self.shape);
        let (a, b, dc, offsets) = (self.a()?, self.b()?, self.dc()?, self.offsets()?);
        let mut c = self.unwritten([rows, n])?;
        grouped.product(stream, &a, &b, &offsets, &mut c)?;
        self.check("c", &c, |e, row, column| self.c_at(e, row, column))?;

        let mut da = self.unwritten([rows, k])?;
        grouped.backward_input(stream, &dc, &b, &offsets, &mut da)?;
        self.check("da", &da, |e, row, column| self.da_at(e, row, column))?;

        let mut db = self.unwritten(b.shape())?;
        grouped.backward_weight(stream, &dc, &a, &offsets, &mut db)?;
        self.check_weights("db", &db)
    }
}

/// The product and its derivatives on each device.
fn products<T: Number + Half>(shape: [usize; 3], offsets: &[i32]) -> Result<()> {
    for device in devices(Grouped::TARGETS)? {
        Case::<T>::new(&device, shape, offsets)?.check_all()?;
    }
    Ok(())
}

#[test]
fn experts_with_few_rows() -> Result<()> {
    products::<bf16>([30, 136, 72], &[0, 3, 3, 20, 30])?;
    products::<f16>([32, 24, 40], &[0, 3, 3, 20, 30])
}

#[test]
fn experts_with_more_rows() -> Result<()> {
    products::<f16>([70, 72, 136], &[0, 66, 70])
}

#[test]
fn experts_with_many_rows() -> Result<()> {
    products::<bf16>([140, 264, 40], &[0, 5, 140])
}

/// Experts with many rows, whose gradients of weights pairs of blocks compute on Hopper: an even number of rows of tiles, and an odd one; one
/// expert without rows, more steps than buffers, and several tiles for each block.
#[test]
fn experts_of_many_tiles() -> Result<()> {
    for device in devices(&[Target::Sm90a])? {
        let pairs = |grouped: Grouped| grouped.with_multiprocessors(4);
        let mut case = Case::<bf16>::new(&device, [772, 648, 8], &[3, 40, 40, 770])?;
        case.grouped = pairs(Grouped::new(&case.stream)?);
        case.check_all()?;
        let mut case = Case::<f16>::new(&device, [560, 8, 264], &[0, 257, 560])?;
        case.grouped = pairs(Grouped::new(&case.stream)?);
        case.check_all()?;
    }
    // One tile of columns, and an odd number of rows of tiles.
    lists::<bf16>([530, 8, 8], &[0, 3, 530], [false, false])
}

/// Extents and views that TMA does not take.
#[test]
fn odd_extents_and_strides() -> Result<()> {
    products::<bf16>([9, 13, 7], &[0, 4, 9])?;
    for device in devices(Grouped::TARGETS)? {
        let case = Case::<f16>::new(&device, [9, 13, 7], &[0, 4, 9])?;
        let stream = &case.stream;
        // Every tensor is a part of a wider one, from an odd column on.
        let wide = |values: &[f16], columns: usize| -> Vec<f16> {
            let row = |row: &[f16]| [&[f16::NAN; 3][..], row, &[f16::NAN; 5][..]].concat();
            values.chunks(columns).flat_map(row).collect()
        };
        let a = stream.upload(&wide(&case.a, 7), [9, 15])?;
        let b = stream.upload(&wide(&case.b, 7), [2, 13, 15])?;
        let mut c = case.unwritten([9, 21])?;
        let mut part = c.slice_mut(1, 3..16)?;
        let (a, b) = (a.slice(1, 3..10)?, b.slice(2, 3..10)?);
        case.grouped.product(stream, &a, &b, &case.offsets()?, &mut part)?;
        let all = c.to_vec(stream)?;
        let inner: Vec<f16> = all.chunks(21).flat_map(|row| row[3..16].to_vec()).collect();
        let inner = stream.upload(&inner, [9, 13])?;
        case.check("a view", &inner, |e, row, column| case.c_at(e, row, column))?;
        let outer = all.chunks(21).flat_map(|row| [&row[..3], &row[16..]].concat());
        assert!(outer.map(Number::value).all(|x| x == BEFORE), "stored beside the view");
    }
    Ok(())
}

/// What offsets mean: each is clamped to the rows, and is the largest so far at least.
#[test]
fn any_offsets_are_safe() -> Result<()> {
    let wild = [-5, 4, 2, 9, i32::MIN, i32::MAX, 3];
    for device in devices(Grouped::TARGETS)? {
        let mut case = Case::<bf16>::new(&device, [13, 24, 16], &wild)?;
        let (stream, grouped) = (&case.stream, &case.grouped);
        let (a, b, dc, offsets) = (case.a()?, case.b()?, case.dc()?, case.offsets()?);
        let mut c = case.unwritten([13, 24])?;
        grouped.product(stream, &a, &b, &offsets, &mut c)?;
        let mut db = case.unwritten(b.shape())?;
        grouped.backward_weight(stream, &dc, &a, &offsets, &mut db)?;
        // Worked out by hand: 0, 4, 4, 9, 9, 13, 13.
        let of = |row| {
            if row < 4 {
                0
            } else if row < 9 {
                2
            } else {
                4
            }
        };
        case.experts = (0..13).map(|row| Some(of(row))).collect();
        case.check("wild offsets, c", &c, |e, row, column| case.c_at(e, row, column))?;
        case.check_weights("wild offsets, db", &db)?;
    }
    Ok(())
}

#[test]
fn rows_of_no_expert_stay_as_they_are() -> Result<()> {
    products::<f16>([40, 24, 16], &[3, 20, 37])
}

#[test]
fn many_experts_have_few_rows_or_none() -> Result<()> {
    let offsets: Vec<i32> = (0..=90).map(|expert| expert * expert / 190).collect();
    for device in devices(Grouped::TARGETS)? {
        let case = Case::<f16>::new(&device, [43, 8, 16], &offsets)?;
        let mut c = case.unwritten([43, 8])?;
        let (a, b, offsets) = (case.a()?, case.b()?, case.offsets()?);
        case.grouped.product(&case.stream, &a, &b, &offsets, &mut c)?;
        case.check("many experts", &c, |e, row, column| case.c_at(e, row, column))?;
    }
    Ok(())
}

#[test]
fn nan_and_infinities_stay_in_their_rows_and_experts() -> Result<()> {
    for device in devices(Grouped::TARGETS)? {
        let mut case = Case::<bf16>::new(&device, [10, 16, 24], &[0, 5, 10])?;
        // The first row of the second expert, which the tiles of the first one reach.
        case.a[5 * 24 + 3] = bf16::INFINITY;
        case.dc[5 * 16 + 2] = bf16::NAN;
        let (stream, grouped) = (&case.stream, &case.grouped);
        let (a, b, dc, offsets) = (case.a()?, case.b()?, case.dc()?, case.offsets()?);
        let mut c = case.unwritten([10, 16])?;
        grouped.product(stream, &a, &b, &offsets, &mut c)?;
        let c = c.to_vec(stream)?;
        assert!(c[5 * 16..6 * 16].iter().all(|x| !x.is_finite()), "{c:?}");
        assert!(c[..5 * 16].iter().chain(&c[6 * 16..]).all(|x| x.is_finite()), "{c:?}");
        let mut db = case.unwritten([2, 16, 24])?;
        grouped.backward_weight(stream, &dc, &a, &offsets, &mut db)?;
        let db = db.to_vec(stream)?;
        for (at, x) in db.iter().enumerate() {
            let (expert, i, j) = (at / 24 / 16, at / 24 % 16, at % 24);
            let touched = expert == 1 && (i == 2 || j == 3);
            assert_eq!(x.is_finite(), !touched, "{expert} {i} {j}: {x}");
        }
    }
    Ok(())
}

#[test]
fn empty_extents_give_nothing_or_zeros() -> Result<()> {
    for device in devices(Grouped::TARGETS)? {
        let stream = device.stream()?;
        let grouped = Grouped::new(&stream)?;
        for [experts, rows, n, k] in
            [[0, 4, 8, 8], [2, 0, 8, 8], [2, 4, 0, 8], [2, 4, 8, 0], [0, 0, 0, 0]]
        {
            let a = stream.full([rows, k], bf16::ONE)?;
            let b = stream.full([experts, n, k], bf16::ONE)?;
            let dc = stream.full([rows, n], bf16::ONE)?;
            let ends = vec![i32::try_from(rows).expect("rows are few"); experts];
            let offsets = stream.upload(&[vec![0], ends].concat(), [experts + 1])?;
            let mut c = stream.full([rows, n], bf16::NAN)?;
            grouped.product(&stream, &a, &b, &offsets, &mut c)?;
            let c = c.to_vec(&stream)?;
            // Without experts no row is stored.
            let as_should = |x: &bf16| if experts == 0 { x.is_nan() } else { *x == bf16::ZERO };
            assert!(c.iter().all(as_should), "{experts} {rows} {n} {k}: {c:?}");
            let mut da = stream.full([rows, k], bf16::NAN)?;
            grouped.backward_input(&stream, &dc, &b, &offsets, &mut da)?;
            assert!(da.to_vec(&stream)?.iter().all(as_should), "{experts} {rows} {n} {k}");
            let mut db = stream.full([experts, n, k], bf16::NAN)?;
            grouped.backward_weight(&stream, &dc, &a, &offsets, &mut db)?;
            let db = db.to_vec(&stream)?;
            assert!(db.iter().all(|&x| x == bf16::ZERO), "{experts} {rows} {n} {k}: {db:?}");
        }
    }
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused() -> Result<()> {
    let stream = crate::support::device(Grouped::TARGETS)?.stream()?;
    let grouped = Grouped::new(&stream)?;
    let offsets = stream.zeros::<i32, 1>([3])?;
    let refused = |result: Result<()>| {
        assert!(matches!(result, Err(Error::Shape { .. })), "{result:?}");
    };
    let rows = |rows, columns| stream.zeros::<f16, 2>([rows, columns]);
    let weights = |experts, n, k| stream.zeros::<f16, 3>([experts, n, k]);
    let product = |a: [usize; 2], b: [usize; 3], c: [usize; 2], options: Options<'_, f16>| {
        let (a, b, mut c) = (rows(a[0], a[1])?, weights(b[0], b[1], b[2])?, rows(c[0], c[1])?);
        grouped.product_with(&stream, &a, &b, &offsets, &mut c, options)
    };
    let plain = Options::default();
    refused(product([4, 16], [2, 8, 24], [4, 8], plain));
    refused(product([4, 16], [3, 8, 16], [4, 8], plain));
    refused(product([4, 16], [2, 8, 16], [4, 16], plain));
    refused(product([4, 16], [2, 8, 16], [5, 8], plain));
    let (list, factors) = (stream.zeros([5])?, stream.zeros([5])?);
    let bias = stream.zeros([2, 9])?;
    let ok = ([4, 16], [2, 8, 16], [4, 8]);
    for options in [
        Options { gather: Some(&list), ..plain },
        Options { scatter: Some(&list), ..plain },
        Options { weights: Some(&factors), ..plain },
        Options { bias: Some(&bias), ..plain },
    ] {
        refused(product(ok.0, ok.1, ok.2, options));
    }
    let (dc, a, mut db) = (rows(4, 8)?, rows(5, 16)?, weights(2, 8, 16)?);
    refused(grouped.backward_weight(&stream, &dc, &a, &offsets, &mut db));
    let (a, mut db) = (rows(4, 16)?, weights(3, 8, 16)?);
    refused(grouped.backward_weight(&stream, &dc, &a, &offsets, &mut db));
    Ok(())
}

/// A number of a row, one that is out of range at every seventh place.
fn listed(at: usize, row: usize) -> i32 {
    let outside = [-1, i32::MAX, i32::MIN, 100_000];
    if at % 7 == 4 { outside[at / 7 % 4] } else { i32::try_from(row).expect("rows are few") }
}

/// Rows that one list names go where another one says, with all that an epilogue does.
fn lists<T: Number + Half>(shape: [usize; 3], offsets: &[i32], which: [bool; 2]) -> Result<()> {
    let ([rows, n, _], [gathers, scatters]) = (shape, which);
    for device in devices(Grouped::TARGETS)? {
        let case = Case::<T>::new(&device, shape, offsets)?;
        let stream = &case.stream;
        // Half of the rows of `a` are not named.
        let tokens = if gathers { rows / 2 } else { rows };
        let a = stream.upload(&case.a[..tokens * shape[2]], [tokens, shape[2]])?;
        let from: Vec<i32> = (0..rows).map(|i| listed(i, i * 5 % tokens)).collect();
        let outputs = if scatters { rows + 3 } else { rows };
        assert!(!outputs.is_multiple_of(13), "rows come twice");
        let to: Vec<i32> = (0..rows).map(|i| listed(i + 3, (i * 13 + 2) % outputs)).collect();
        let (factors, bias) = (numbers::<f32>(rows, 4), numbers::<T>((offsets.len() - 1) * n, 5));
        let (gather, scatter) = (stream.upload(&from, [rows])?, stream.upload(&to, [rows])?);
        let weights = stream.upload(&factors, [rows])?;
        let on_device = stream.upload(&bias, [offsets.len() - 1, n])?;
        let options = Options {
            scale: 0.5,
            bias: Some(&on_device),
            activation: Some(Activation::Relu),
            weights: Some(&weights),
            gather: gathers.then_some(&gather),
            scatter: scatters.then_some(&scatter),
        };
        let (b, ends) = (case.b()?, case.offsets()?);
        let mut c = case.unwritten([outputs, n])?;
        case.grouped.product_with(stream, &a, &b, &ends, &mut c, options)?;
        // The same weights as they are stored for a product from the right: `[experts, k, n]`.
        let k = shape[2];
        let of = |at: usize| case.b[(at / n / k * n + at % n) * k + at / n % k];
        let turned: Vec<T> = (0..b.len()).map(of).collect();
        let turned = stream.upload(&turned, [b.shape()[0], k, n])?;
        let mut of_turned = case.unwritten([outputs, n])?;
        let turned = turned.permute([0, 2, 1])?;
        case.grouped.product_with(stream, &a, &turned, &ends, &mut of_turned, options)?;

        let mut required = vec![(BEFORE, 0.0); outputs * n];
        for i in 0..rows {
            let source = if gathers { usize::try_from(from[i]) } else { Ok(i) };
            let target = if scatters { usize::try_from(to[i]) } else { Ok(i) };
            let (Some(expert), Ok(target)) = (case.experts[i], target) else { continue };
            if target >= outputs {
                continue;
            }
            for column in 0..n {
                let (sum, off) = match source {
                    Ok(row) if row < tokens => case.c_at(expert, row, column),
                    _ => (0.0, 0.0),
                };
                let x = 0.5 * sum + bias[expert * n + column].value();
                let factor = f64::from(factors[i]);
                // Three roundings of f32, of the scaled sum, that with the bias, and the product with the weight, of numbers not larger
                // than these.
                let roundings = 3.0 * 2f64.powi(-24) * (0.5 * sum.abs() + x.abs());
                let off = factor.abs() * (0.5 * off + roundings);
                required[target * n + column] = (factor * x.max(0.0), off);
            }
        }
        let what = format!("{shape:?} {offsets:?} {which:?} on {device}");
        assert_close(&what, n, &c.to_vec(stream)?, &required);
        assert_close(&what, n, &of_turned.to_vec(stream)?, &required);
    }
    Ok(())
}

#[test]
fn few_rows_are_gathered_and_scattered() -> Result<()> {
    lists::<bf16>([32, 136, 600], &[0, 3, 3, 20, 28], [true, true])
}

#[test]
fn many_rows_are_gathered_and_scattered() -> Result<()> {
    // More steps than there are buffers, and fewer.
    lists::<f16>([152, 24, 264], &[2, 145], [true, true])?;
    lists::<bf16>([152, 24, 24], &[2, 20, 145], [true, true])?;
    // Tiles of 256 columns, which are taken where they are enough for all multiprocessors.
    let offsets: Vec<i32> = (0..=40).map(|expert| 17 * expert).collect();
    lists::<bf16>([690, 264, 24], &offsets, [true, true])
}

#[test]
fn rows_are_gathered_or_scattered() -> Result<()> {
    lists::<f16>([30, 24, 24], &[1, 20, 30], [true, false])?;
    lists::<f16>([30, 24, 24], &[0, 30], [false, true])?;
    lists::<bf16>([30, 24, 24], &[0, 19, 30], [false, false])?;
    lists::<f16>([140, 24, 24], &[0, 130], [false, false])?;
    lists::<bf16>([30, 23, 21], &[0, 19, 30], [true, true])
}
