//! Products against sums in f64.

#![expect(
    clippy::cast_precision_loss,
    clippy::many_single_char_names,
    clippy::float_cmp,
    reason = "sums are small, and those that are compared are exact"
)]

use half::{bf16, f16};
use kiln::prelude::{Device, DeviceTensor, Error, Result, Stream, Target};
use kiln_kernels::{
    Activation, Half,
    matmul::{Epilogue, Major, Matmul, Plan, Sums},
};

use crate::support::{Number, assert_close, device, devices, numbers};

mod types;

/// A multiprocessor count for which shares begin within tiles.
const MULTIPROCESSORS: usize = 7;

/// A stream of a card that runs plans.
fn hopper() -> Result<Stream> {
    device(&[Target::Sm90a])?.stream()
}

/// A stream of each card that has kernels of its own.
fn streams() -> Result<Vec<Stream>> {
    devices(Matmul::TARGETS)?.iter().map(Device::stream).collect()
}

/// Those of the cards that do not run plans.
fn streams_without_plans() -> Result<Vec<Stream>> {
    let streams = streams()?.into_iter();
    Ok(streams.filter(|stream| !stream.device().runs(Target::Sm90a)).collect())
}

struct Case<T> {
    stream: Stream,
    shape: [usize; 3],
    a: DeviceTensor<T, 2>,
    b: DeviceTensor<T, 2>,
    /// Each sum, and how far it may be off before it is rounded.
    sums: Vec<(f64, f64)>,
}

/// Each sum of a product, and how far it may be off before it is rounded.
fn sums<T: Number>(a: &[T], b: &[T], [m, n, k]: [usize; 3]) -> Vec<(f64, f64)> {
    let [a, b] = [a, b].map(|x| x.iter().map(|x| x.value()).collect::<Vec<f64>>());
    let mut sums = Vec::new();
    for row in 0..m {
        for column in 0..n {
            let (mut sum, mut size) = (0.0, 0.0);
            for (x, y) in a[row * k..][..k].iter().zip(&b[column * k..][..k]) {
                sum += x * y;
                size += (x * y).abs();
            }
            // Products are exact in f32; each of k sums rounds by 2^-24 of a sum below `size`, and tensor cores cut off twice that.
            sums.push((sum, k as f64 * 2f64.powi(-23) * size));
        }
    }
    sums
}

impl<T: Number + Half> Case<T> {
    fn new(stream: &Stream, [m, n, k]: [usize; 3]) -> Result<Case<T>> {
        let (a, b) = (numbers::<T>(m * k, 1), numbers::<T>(n * k, 2));
        let sums = sums(&a, &b, [m, n, k]);
        let (a, b) = (stream.upload(&a, [m, k])?, stream.upload(&b, [n, k])?);
        Ok(Case { stream: stream.clone(), shape: [m, n, k], a, b, sums })
    }

    fn check(&self, what: &str, c: &DeviceTensor<T, 2>) -> Result<()> {
        assert_close(what, self.shape[1], &c.to_vec(&self.stream)?, &self.sums);
        Ok(())
    }

    fn unwritten(&self) -> Result<DeviceTensor<T, 2>> {
        let [m, n, _] = self.shape;
        self.stream.full([m, n], T::of(f64::NAN))
    }
}

/// The extents of a batch of one product.
fn of_one([m, n, k]: [usize; 3]) -> [usize; 4] {
    [1, m, n, k]
}

/// All plans that the extents allow, each twice: what it leaves in scratch memory serves the next one.
fn every_plan<T: Number + Half>(shape: [usize; 3]) -> Result<()> {
    let case = Case::<T>::new(&hopper()?, shape)?;
    let mut matmul = Matmul::new(&case.stream)?;
    let plans =
        Plan::candidates::<T, T, T>(of_one(shape), [Major::K; 2], Sums::Precise, MULTIPROCESSORS);
    assert!(!plans.is_empty(), "{shape:?}");
    for plan in &plans {
        let mut bits = Vec::new();
        for _ in 0..2 {
            let mut c = case.unwritten()?;
            let whole = Epilogue::default();
            matmul.product_by(&case.stream, *plan, &case.a, &case.b, &mut c, whole)?;
            case.check(&format!("{plan} for {shape:?}"), &c)?;
            bits.push(c.to_vec(&case.stream)?.into_iter().map(Number::value).collect::<Vec<_>>());
        }
        assert_eq!(bits[0], bits[1], "{plan} for {shape:?}: two runs differ");
    }
    Ok(())
}

/// What clusters that share steps of a tile store in parts, and tiles of 192 columns in blocks of 64: with a bias, added to what is there.
#[test]
fn parts_of_tiles_have_their_own_epilogue() -> Result<()> {
    for shape in [[150, 264, 328], [14, 200, 456]] {
        let [m, n, _] = shape;
        let case = Case::<bf16>::new(&hopper()?, shape)?;
        let (bias, old) = (numbers::<bf16>(n, 3), numbers::<bf16>(m * n, 4));
        let on_device = case.stream.upload(&bias, [n])?;
        let sums = case.sums.iter().enumerate().map(|(at, &(sum, off))| {
            let terms = [0.5 * sum, bias[at % n].value(), old[at].value()];
            let size: f64 = terms.iter().map(|term| term.abs()).sum();
            // Two additions and a product in f32.
            (terms.iter().sum(), 0.5 * off + 3.0 * 2f64.powi(-24) * size)
        });
        let sums: Vec<(f64, f64)> = sums.collect();
        let mut matmul = Matmul::new(&case.stream)?;
        let plans =
            Plan::candidates::<bf16, bf16, bf16>(of_one(shape), [Major::K; 2], Sums::Precise, 132);
        let in_parts = |plan: &String| plan.contains("split") || plan.contains("x192");
        let plans = plans.into_iter().map(|plan| (plan, plan.to_string()));
        let plans: Vec<(Plan, String)> = plans.filter(|(_, name)| in_parts(name)).collect();
        assert!(plans.len() > 3, "{plans:?}");
        for (plan, name) in plans {
            let epilogue = Epilogue {
                scale: 0.5,
                bias: Some(&on_device),
                accumulate: true,
                ..Epilogue::default()
            };
            let mut c = case.stream.upload(&old, [m, n])?;
            matmul.product_by(&case.stream, plan, &case.a, &case.b, &mut c, epilogue)?;
            assert_close(&name, n, &c.to_vec(&case.stream)?, &sums);
        }
    }
    Ok(())
}

#[test]
fn every_plan_multiplies_few_rows() -> Result<()> {
    every_plan::<bf16>([1, 200, 456])?;
    every_plan::<f16>([19, 136, 200])
}

#[test]
fn every_plan_multiplies_ragged_tiles() -> Result<()> {
    every_plan::<bf16>([150, 264, 328])?;
    // Two steps of the last tile, for seven blocks.
    every_plan::<f16>([300, 520, 72])
}

#[test]
fn every_card_multiplies() -> Result<()> {
    for stream in streams()? {
        for shape in
            [[1, 8, 8], [8, 8, 64], [9, 72, 64], [64, 64, 2048], [129, 1000, 8], [257, 24, 1096]]
        {
            let case = Case::<bf16>::new(&stream, shape)?;
            let mut c = case.unwritten()?;
            Matmul::new(&stream)?.product(&stream, &case.a, &case.b, &mut c)?;
            case.check(&format!("{shape:?}"), &c)?;
        }
    }
    Ok(())
}

/// Cards of which tiles are chosen by the number of multiprocessors: with one, tiles are large; with many, blocks share `k`.
#[test]
fn tiles_of_every_size_are_computed() -> Result<()> {
    for stream in streams_without_plans()? {
        for (shape, multiprocessors) in [
            ([1, 200, 456], 7),
            ([16, 136, 1000], 30),
            ([19, 136, 456], 30),
            ([150, 264, 72], 30),
            ([150, 264, 328], 1),
            ([520, 24, 8], 3),
        ] {
            of_any_size::<bf16>(&stream, shape, multiprocessors)?;
        }
        of_any_size::<f16>(&stream, [5, 16, 256], 7)?;
        of_any_size::<f16>(&stream, [130, 264, 136], 1)?;
        of_any_size::<f16>(&stream, [70, 8, 520], 30)?;
    }
    Ok(())
}

/// What the first product leaves in scratch memory serves the second.
fn of_any_size<T: Number + Half>(
    stream: &Stream,
    shape: [usize; 3],
    multiprocessors: usize,
) -> Result<()> {
    let case = Case::<T>::new(stream, shape)?;
    let mut matmul = Matmul::on(stream, multiprocessors)?;
    let mut bits = Vec::new();
    for _ in 0..2 {
        let mut c = case.unwritten()?;
        matmul.product(stream, &case.a, &case.b, &mut c)?;
        case.check(&format!("{shape:?} on {multiprocessors}"), &c)?;
        bits.push(c.to_vec(stream)?.into_iter().map(Number::value).collect::<Vec<_>>());
    }
    assert_eq!(bits[0], bits[1], "{shape:?} on {multiprocessors}: two runs differ");
    Ok(())
}

#[test]
fn empty_extents_give_nothing_or_zeros() -> Result<()> {
    for stream in streams()? {
        for [m, n, k] in [[0, 8, 8], [8, 0, 8], [0, 0, 0], [3, 200, 0]] {
            let a = stream.zeros::<f16, 2>([m, k])?;
            let b = stream.zeros::<f16, 2>([n, k])?;
            let mut c = stream.full([m, n], f16::NAN)?;
            Matmul::new(&stream)?.product(&stream, &a, &b, &mut c)?;
            assert!(c.to_vec(&stream)?.iter().all(|&x| x == f16::ZERO), "{m} {n} {k}");
        }
    }
    Ok(())
}

#[test]
fn nan_and_infinities_spread_as_in_sums() -> Result<()> {
    for stream in streams()? {
        // The smallest tile, and a larger one.
        for m in [3, 20] {
            let (n, k) = (8, 72);
            let mut a = vec![bf16::ONE; m * k];
            a[70] = bf16::INFINITY; // row 0
            a[k + 3] = bf16::NAN; // row 1
            let (a, b) = (stream.upload(&a, [m, k])?, stream.full([n, k], bf16::ONE)?);
            let mut c = stream.zeros::<bf16, 2>([m, n])?;
            Matmul::new(&stream)?.product(&stream, &a, &b, &mut c)?;
            let c = c.to_vec(&stream)?;
            assert!(c[..n].iter().all(|&x| x == bf16::INFINITY), "{c:?}");
            assert!(c[n..2 * n].iter().all(|x| x.is_nan()), "{c:?}");
            assert!(c[2 * n..].iter().all(|x| x.to_f32() == 72.0), "{c:?}");
        }
    }
    Ok(())
}

#[test]
fn views_are_multiplied_in_place() -> Result<()> {
    for stream in streams()? {
        for (m, at) in [(5, 16), (20, 16), (20, 15)] {
            let case = Case::<bf16>::new(&stream, [m, 16, 64])?;
            let mut wide = stream.full([m, 48], bf16::NAN)?;
            let mut inside = wide.slice_mut(1, at..at + 16)?;
            Matmul::new(&stream)?.product(&stream, &case.a.view(), &case.b, &mut inside)?;
            let all = wide.to_vec(&stream)?;
            let c: Vec<bf16> = all.chunks(48).flat_map(|row| row[at..at + 16].to_vec()).collect();
            case.check("a view", &stream.upload(&c, [m, 16])?)?;
            let mut beside = all.chunks(48).flat_map(|row| row[..at].iter().chain(&row[at + 16..]));
            assert!(beside.all(|x| x.is_nan()), "stored beside the view");
        }
        let case = Case::<bf16>::new(&stream, [5, 16, 64])?;
        let mut wide = stream.full([5, 32], bf16::NAN)?;
        let mut every_second = wide.as_strided_mut([5, 16], [32, 2])?;
        Matmul::new(&stream)?.product(&stream, &case.a, &case.b, &mut every_second)?;
        let (stored, beside): (Vec<_>, Vec<_>) =
            wide.to_vec(&stream)?.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
        case.check("every second column", &stream.upload(&stored, [5, 16])?)?;
        assert!(beside.iter().all(|x| x.is_nan()), "stored between the columns");
    }
    Ok(())
}

/// Rows that begin anywhere, as those of odd lengths do, in all three matrices.
#[test]
fn rows_may_begin_anywhere() -> Result<()> {
    for stream in streams()? {
        for (shape, multiprocessors) in [([3, 13, 133], 7), ([70, 129, 33], 1), ([17, 8, 301], 30)]
        {
            of_any_size::<f16>(&stream, shape, multiprocessors)?;
        }
        let shape = [21, 9, 35];
        let case = Case::<bf16>::new(&stream, shape)?;
        let [m, n, _] = shape;
        let (a, b) = (turned(&stream, &case.a, m)?, turned(&stream, &case.b, n)?);
        let mut stored = stream.full([n, m], bf16::NAN)?;
        let mut matmul = Matmul::new(&stream)?;
        for (a, b) in [
            (&case.a.view(), &b.transpose()),
            (&a.transpose(), &case.b.view()),
            (&a.transpose(), &b.transpose()),
        ] {
            let mut c = case.unwritten()?;
            matmul.product(&stream, a, b, &mut c)?;
            case.check(&format!("{shape:?}"), &c)?;
        }
        matmul.product(&stream, &a.transpose(), &case.b, &mut stored.transpose_mut())?;
        let stored = turned(&stream, &stored, n)?;
        case.check("its columns are contiguous", &stored)?;
    }
    Ok(())
}

#[test]
fn a_plan_for_other_extents_is_refused() -> Result<()> {
    let case = Case::<bf16>::new(&hopper()?, [16, 64, 64])?;
    let mut matmul = Matmul::new(&case.stream)?;
    for plan in Plan::candidates::<bf16, bf16, bf16>(
        [1, 16, 64, 128],
        [Major::K; 2],
        Sums::Precise,
        MULTIPROCESSORS,
    ) {
        let refused = matmul.product_by(
            &case.stream,
            plan,
            &case.a,
            &case.b,
            &mut case.unwritten()?,
            Epilogue::default(),
        );
        assert!(matches!(refused, Err(Error::Shape { .. })), "{plan}: {refused:?}");
    }
    Ok(())
}

#[test]
fn plans_are_for_hopper() -> Result<()> {
    for stream in streams_without_plans()? {
        let case = Case::<bf16>::new(&stream, [16, 64, 64])?;
        let plans = Plan::candidates::<bf16, bf16, bf16>(
            [1, 16, 64, 64],
            [Major::K; 2],
            Sums::Precise,
            MULTIPROCESSORS,
        );
        let refused = Matmul::new(&stream)?.product_by(
            &stream,
            plans[0],
            &case.a,
            &case.b,
            &mut case.unwritten()?,
            Epilogue::default(),
        );
        assert!(matches!(refused, Err(Error::TargetNotRunnable { .. })), "{refused:?}");
    }
    Ok(())
}

#[test]
fn a_product_that_has_run_can_be_recorded() -> Result<()> {
    for stream in streams()? {
        for m in [9, 24] {
            let case = Case::<f16>::new(&stream, [m, 72, 520])?;
            let mut matmul = Matmul::new(&stream)?;
            let mut c = case.unwritten()?;
            matmul.product(&stream, &case.a, &case.b, &mut c)?;
            stream.fill(&mut c, f16::NAN)?;
            let graph = stream.device().capture(|stream| {
                (0..2).try_for_each(|_| matmul.product(stream, &case.a, &case.b, &mut c))
            })?;
            graph.launch(&stream)?;
            case.check("a graph", &c)?;
        }
    }
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused() -> Result<()> {
    for stream in streams()? {
        let tensor = |rows, columns| stream.zeros::<bf16, 2>([rows, columns]);
        let mut matmul = Matmul::new(&stream)?;
        for (a, b, c) in
            [([4, 16], [8, 24], [4, 8]), ([4, 16], [8, 16], [4, 16]), ([4, 16], [8, 16], [8, 8])]
        {
            let (a, b, mut c) = (tensor(a[0], a[1])?, tensor(b[0], b[1])?, tensor(c[0], c[1])?);
            let refused = matmul.product(&stream, &a, &b, &mut c).expect_err("extents differ");
            assert!(matches!(refused, Error::Shape { .. }), "{refused}");
        }
        let (wide, b, mut c) = (tensor(4, 32)?, tensor(8, 16)?, tensor(4, 8)?);
        let every_second = wide.as_strided([4, 16], [32, 2])?;
        let refused = matmul.product(&stream, &every_second, &b, &mut c);
        assert!(matches!(refused, Err(Error::FactBroken { .. })), "{refused:?}");
    }
    Ok(())
}

/// The transpose of a matrix, with its rows contiguous and `pitch` numbers apart.
fn turned(
    stream: &Stream,
    x: &DeviceTensor<bf16, 2>,
    pitch: usize,
) -> Result<DeviceTensor<bf16, 2>> {
    let ([rows, columns], from) = (x.shape(), x.to_vec(stream)?);
    let of = |at: usize| from.get(at % pitch * columns + at / pitch).copied();
    let inside = |at: usize| if at % pitch < rows { of(at) } else { None };
    let all: Vec<bf16> = (0..columns * pitch).map(|at| inside(at).unwrap_or(bf16::NAN)).collect();
    stream.upload(&all, [columns, pitch])
}

/// The same by cards that do not run plans, in large and in small tiles.
#[test]
fn operands_are_contiguous_along_either_axis_on_every_card() -> Result<()> {
    for stream in streams_without_plans()? {
        for (shape, multiprocessors) in [([136, 136, 72], 1), ([24, 72, 520], 30)] {
            let case = Case::<bf16>::new(&stream, shape)?;
            let [m, n, _] = shape;
            let (turned_a, turned_b) = (turned(&stream, &case.a, m)?, turned(&stream, &case.b, n)?);
            let (a, b) = (turned_a.transpose(), turned_b.transpose());
            let mut matmul = Matmul::on(&stream, multiprocessors)?;
            for (a, b) in [(&case.a.view(), &b), (&a, &case.b.view()), (&a, &b)] {
                let mut c = case.unwritten()?;
                matmul.product(&stream, a, b, &mut c)?;
                let what =
                    format!("{shape:?} on {multiprocessors}, {:?}, {:?}", a.strides(), b.strides());
                case.check(&what, &c)?;
            }
        }
        // Few rows, by weights that are contiguous along them.
        let case = Case::<bf16>::new(&stream, [2, 72, 136])?;
        let b = turned(&stream, &case.b, 72)?;
        let mut c = case.unwritten()?;
        Matmul::new(&stream)?.product(&stream, &case.a, &b.transpose(), &mut c)?;
        case.check("few rows", &c)?;
    }
    Ok(())
}

/// Each pair of majors, by every plan.
#[test]
fn operands_are_contiguous_along_either_axis() -> Result<()> {
    for shape in [[19, 136, 200], [150, 264, 328]] {
        let case = Case::<bf16>::new(&hopper()?, shape)?;
        let [m, n, _] = shape;
        // Columns begin at multiples of 16 bytes.
        let pitched = |x, rows: usize| turned(&case.stream, x, rows.next_multiple_of(8));
        let (wide_a, wide_b) = (pitched(&case.a, m)?, pitched(&case.b, n)?);
        let (a, b) = (wide_a.slice(1, 0..m)?, wide_b.slice(1, 0..n)?);
        let (a, b) = (a.transpose(), b.transpose());
        let mut matmul = Matmul::new(&case.stream)?;
        let (along, across) = (Major::K, Major::Rows);
        for majors in [[across, along], [along, across], [across, across]] {
            let plans = Plan::candidates::<bf16, bf16, bf16>(
                of_one(shape),
                majors,
                Sums::Precise,
                MULTIPROCESSORS,
            );
            assert!(!plans.is_empty(), "{majors:?}");
            for plan in plans {
                let mut c = case.unwritten()?;
                let (stream, whole) = (&case.stream, Epilogue::default());
                let what = format!("{plan} for {majors:?} of {shape:?}");
                match majors {
                    [Major::Rows, Major::K] => {
                        matmul.product_by(stream, plan, &a, &case.b, &mut c, whole)?;
                    }
                    [Major::K, Major::Rows] => {
                        matmul.product_by(stream, plan, &case.a, &b, &mut c, whole)?;
                    }
                    _ => matmul.product_by(stream, plan, &a, &b, &mut c, whole)?,
                }
                case.check(&what, &c)?;
            }
        }
    }
    Ok(())
}

/// The function in f64, and the most that its derivative is.
fn activated(activation: Option<Activation>, x: f64) -> f64 {
    match activation {
        None => x,
        Some(activation) => value(activation, x),
    }
}

fn value(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Relu => x.max(0.0),
        Activation::ReluSquared => x.max(0.0).powi(2),
        Activation::Gelu => x * 0.5 * (1.0 + libm::erf(x / 2f64.sqrt())),
        Activation::GeluTanh => {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
            0.5 * x * (1.0 + inner.tanh())
        }
        Activation::Silu => x / (1.0 + (-x).exp()),
    }
}

#[test]
fn epilogues_scale_add_and_activate() -> Result<()> {
    for stream in streams()? {
        // Few rows, and more; no steps at all; and rows of `c` that begin anywhere.
        for shape in [[5, 136, 72], [130, 72, 136], [5, 136, 0], [18, 33, 72]] {
            every_epilogue(&mut Matmul::new(&stream)?, &stream, shape)?;
        }
        if !stream.device().runs(Target::Sm90a) {
            // In large tiles, and with shares of `k`.
            every_epilogue(&mut Matmul::on(&stream, 1)?, &stream, [136, 136, 8])?;
            every_epilogue(&mut Matmul::on(&stream, 30)?, &stream, [24, 72, 520])?;
        }
    }
    Ok(())
}

/// Each activation with a bias and without, every other one added to what is there.
fn every_epilogue(matmul: &mut Matmul, stream: &Stream, shape: [usize; 3]) -> Result<()> {
    let all = [
        None,
        Some(Activation::Relu),
        Some(Activation::ReluSquared),
        Some(Activation::Gelu),
        Some(Activation::GeluTanh),
        Some(Activation::Silu),
    ];
    let [m, n, _] = shape;
    let case = Case::<f16>::new(stream, shape)?;
    let (bias, old) = (numbers::<f16>(n, 3), numbers::<f16>(m * n, 4));
    let on_device = case.stream.upload(&bias, [n])?;
    for (at, activation) in all.into_iter().enumerate() {
        for (with_bias, accumulate) in [(true, at % 2 == 0), (false, at % 2 == 1)] {
            let bias_of = |column: usize| if with_bias { bias[column].value() } else { 0.0 };
            let epilogue = Epilogue {
                scale: 0.25,
                bias: with_bias.then_some(&on_device),
                activation,
                accumulate,
                sums: Sums::Precise,
            };
            let mut c = case.stream.upload(&old, [m, n])?;
            matmul.product_with(&case.stream, &case.a, &case.b, &mut c, epilogue)?;
            let required: Vec<(f64, f64)> = (0..m * n)
                .map(|at| {
                    let (sum, off) = case.sums[at];
                    let x = 0.25 * sum + bias_of(at % n);
                    let before = if accumulate { old[at].value() } else { 0.0 };
                    let y = activated(activation, x);
                    // No derivative is larger than 1.13. Eight roundings of f32 follow, the functions' own 2 ulp among them, of
                    // numbers no larger than these.
                    let roundings = 2f64.powi(-20) * (x.abs() + y.abs() + before.abs());
                    (y + before, 1.13 * 0.25 * off + roundings)
                })
                .collect();
            let what = format!("{activation:?} of {shape:?}, bias {with_bias}, {accumulate}");
            assert_close(&what, n, &c.to_vec(&case.stream)?, &required);
        }
    }
    Ok(())
}

#[test]
fn a_bias_of_another_length_is_refused() -> Result<()> {
    let case = Case::<bf16>::new(&device(Matmul::TARGETS)?.stream()?, [16, 64, 64])?;
    let bias = case.stream.zeros([63])?;
    let epilogue = Epilogue { bias: Some(&bias), ..Epilogue::default() };
    let mut matmul = Matmul::new(&case.stream)?;
    let refused =
        matmul.product_with(&case.stream, &case.a, &case.b, &mut case.unwritten()?, epilogue);
    assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    Ok(())
}

/// By every plan, and on other cards by tiles of each size, of matrices with space between them.
#[test]
fn products_of_a_batch_are_computed_at_once() -> Result<()> {
    let (batches, m, n, k) = (3, 19, 136, 72);
    for stream in streams()? {
        let (a, b) = (numbers::<bf16>(batches * m * k, 1), numbers::<bf16>(batches * n * k, 2));
        let required: Vec<(f64, f64)> =
            a.chunks(m * k).zip(b.chunks(n * k)).flat_map(|(a, b)| sums(a, b, [m, n, k])).collect();
        let a = stream.upload(&a, [batches, m, k])?;
        // The matrices of b are interleaved row by row.
        let rows = |at: usize| (at / batches) + (at % batches) * n;
        let apart: Vec<bf16> =
            (0..batches * n).flat_map(|at| b[rows(at) * k..][..k].to_vec()).collect();
        let apart = stream.upload(&apart, [n, batches, k])?;
        let b = apart.permute([1, 0, 2])?;
        for multiprocessors in [1, 30] {
            let mut c = stream.full([batches, m, n], bf16::NAN)?;
            Matmul::on(&stream, multiprocessors)?.product(&stream, &a, &b, &mut c)?;
            let what = format!("a batch on {multiprocessors}");
            assert_close(&what, n, &c.to_vec(&stream)?, &required);
        }
        let mut matmul = Matmul::new(&stream)?;
        let mut plans = Plan::candidates::<bf16, bf16, bf16>(
            [batches, m, n, k],
            [Major::K; 2],
            Sums::Precise,
            MULTIPROCESSORS,
        );
        assert!(!plans.is_empty());
        if !stream.device().runs(Target::Sm90a) {
            plans.clear();
        }
        for plan in plans {
            let mut c = stream.full([batches, m, n], bf16::NAN)?;
            matmul.product_by(&stream, plan, &a, &b, &mut c, Epilogue::default())?;
            assert_close(&format!("{plan}"), n, &c.to_vec(&stream)?, &required);
        }
        for empty in [[0, m, n, k], [batches, m, n, 0]] {
            let [batches, m, n, k] = empty;
            let (a, b) = (stream.zeros([batches, m, k])?, stream.zeros([batches, n, k])?);
            let mut c = stream.full([batches, m, n], bf16::NAN)?;
            matmul.product(&stream, &a, &b, &mut c)?;
            assert!(c.to_vec(&stream)?.iter().all(|&x| x == bf16::ZERO), "{empty:?}");
        }
    }
    Ok(())
}

/// The transposes of matrices of so many rows and columns, one after the other.
fn each_transposed<T: Copy>(x: &[T], [rows, columns]: [usize; 2]) -> Vec<T> {
    let of = |matrix: &[T]| -> Vec<T> {
        (0..rows * columns).map(|at| matrix[at % rows * columns + at / rows]).collect()
    };
    x.chunks(rows * columns).flat_map(of).collect()
}

#[test]
fn matrices_of_a_batch_are_contiguous_along_either_axis() -> Result<()> {
    let (batches, m, n, k) = (2, 136, 136, 72);
    let (a, b) = (numbers::<f16>(batches * m * k, 1), numbers::<f16>(batches * n * k, 2));
    let required: Vec<(f64, f64)> =
        a.chunks(m * k).zip(b.chunks(n * k)).flat_map(|(a, b)| sums(a, b, [m, n, k])).collect();
    for stream in streams()? {
        let turned_a = stream.upload(&each_transposed(&a, [m, k]), [batches, k, m])?;
        let turned_b = stream.upload(&each_transposed(&b, [n, k]), [batches, k, n])?;
        let (turned_a, turned_b) = (turned_a.permute([0, 2, 1])?, turned_b.permute([0, 2, 1])?);
        let a = stream.upload(&a, [batches, m, k])?;
        let b = stream.upload(&b, [batches, n, k])?;
        for multiprocessors in [1, 30] {
            let mut matmul = Matmul::on(&stream, multiprocessors)?;
            for (a, b) in [(&turned_a, &b.view()), (&a.view(), &turned_b), (&turned_a, &turned_b)] {
                let mut c = stream.full([batches, m, n], f16::NAN)?;
                matmul.product(&stream, a, b, &mut c)?;
                assert_close("rows of c", n, &c.to_vec(&stream)?, &required);
                let mut c = stream.full([batches, n, m], f16::NAN)?;
                matmul.product(&stream, a, b, &mut c.permute_mut([0, 2, 1])?)?;
                let c = each_transposed(&c.to_vec(&stream)?, [n, m]);
                assert_close("columns of c", n, &c, &required);
            }
        }
    }
    Ok(())
}

/// The columns of `c` are contiguous: the product is that of `b` and `a`.
#[test]
fn the_result_is_contiguous_along_either_axis() -> Result<()> {
    for stream in streams()? {
        for shape in [[8, 136, 72], [136, 24, 72], [16, 8, 0]] {
            let [m, n, _] = shape;
            let case = Case::<bf16>::new(&stream, shape)?;
            let bias = numbers::<bf16>(n, 3);
            let on_device = case.stream.upload(&bias, [n])?;
            let epilogue = Epilogue { bias: Some(&on_device), ..Epilogue::default() };
            let pitch = m + 8;
            let mut stored = case.stream.full([n, pitch], bf16::NAN)?;
            let mut rows = stored.slice_mut(1, 0..m)?;
            let mut c = rows.transpose_mut();
            Matmul::new(&case.stream)?.product_with(
                &case.stream,
                &case.a,
                &case.b,
                &mut c,
                epilogue,
            )?;
            let stored = stored.to_vec(&case.stream)?;
            let c: Vec<bf16> = (0..m * n).map(|at| stored[at % n * pitch + at / n]).collect();
            let required: Vec<(f64, f64)> = (0..m * n)
                .map(|at| {
                    let ((sum, off), bias) = (case.sums[at], bias[at % n].value());
                    // One rounding of the sum with the bias.
                    (sum + bias, off + 2f64.powi(-24) * (sum + bias).abs())
                })
                .collect();
            assert_close(&format!("{shape:?}"), n, &c, &required);
        }
    }
    Ok(())
}
