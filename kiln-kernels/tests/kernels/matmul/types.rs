//! Products of TF32 and of FP8.

use std::marker::PhantomData;

use half::{bf16, f16};
use kiln::{
    TensorArgument, TensorArgumentMut,
    prelude::{Device, DeviceTensor, Element, Error, Result, Stream, Target, e4m3, e5m2},
};
use kiln_kernels::{
    Activation, Float8, Half, Operand, Real,
    matmul::{Epilogue, Major, Matmul, Plan, Sums},
};

use super::{MULTIPROCESSORS, activated, each_transposed, hopper, of_one, sums};
use crate::support::{
    Float8Number, Number, assert_close, devices, float8_numbers, float8_sum,
    float8_sum_by_tensor_cores, numbers,
};

/// Types of operands and results.
trait Kind {
    type A: Operand<Self::O, Self::B>;
    type B: Element;
    type O: Number + Real;
    const TARGETS: &[Target];
    const SUMS: Sums = Sums::Precise;

    /// Numbers of `a` that the tensor cores take as they are, and their values.
    fn left(len: usize) -> (Vec<Self::A>, Vec<f64>);

    /// Those of `b`.
    fn right(len: usize) -> (Vec<Self::B>, Vec<f64>);

    /// Each sum, and how far it may be off before it is rounded.
    fn sums(a: &[f64], b: &[f64], shape: [usize; 3]) -> Vec<(f64, f64)>;

    fn product<const R: usize>(
        matmul: &mut Matmul,
        stream: &Stream,
        a: &impl TensorArgument<Self::A, R>,
        b: &impl TensorArgument<Self::B, R>,
        c: &mut impl TensorArgumentMut<Self::O, R>,
        epilogue: Epilogue<'_, Self::O>,
    ) -> Result<()>;
}

struct Tf32;

impl Tf32 {
    fn numbers(len: usize, seed: u64) -> (Vec<f32>, Vec<f64>) {
        let values: Vec<bf16> = numbers(len, seed);
        (values.iter().map(|x| x.to_f32()).collect(), values.iter().map(|x| x.value()).collect())
    }
}

impl Kind for Tf32 {
    type A = f32;
    type B = f32;
    type O = f32;
    const TARGETS: &[Target] = Matmul::TARGETS;

    fn left(len: usize) -> (Vec<f32>, Vec<f64>) {
        Tf32::numbers(len, 1)
    }

    fn right(len: usize) -> (Vec<f32>, Vec<f64>) {
        Tf32::numbers(len, 2)
    }

    fn sums(a: &[f64], b: &[f64], shape: [usize; 3]) -> Vec<(f64, f64)> {
        let [a, b] = [a, b].map(|x| x.iter().map(|&x| f32::of(x)).collect::<Vec<f32>>());
        sums(&a, &b, shape)
    }

    fn product<const R: usize>(
        matmul: &mut Matmul,
        stream: &Stream,
        a: &impl TensorArgument<f32, R>,
        b: &impl TensorArgument<f32, R>,
        c: &mut impl TensorArgumentMut<f32, R>,
        epilogue: Epilogue<'_, f32>,
    ) -> Result<()> {
        matmul.product_tf32_with(stream, a, b, c, epilogue)
    }
}

/// FP8 with precise sums, or with `FAST` ones.
struct Float8s<A, B, O, const FAST: bool = false>(PhantomData<(A, B, O)>);

/// Both operands are `e4m3`.
type E4m3<O> = Float8s<e4m3, e4m3, O>;

/// The same with fast sums.
type Fast<O> = Float8s<e4m3, e4m3, O, true>;

/// One operand is `e5m2`.
type E5m2ByE4m3 = Float8s<e5m2, e4m3, bf16>;
type E4m3ByE5m2 = Float8s<e4m3, e5m2, bf16>;

impl<A, B, O, const FAST: bool> Kind for Float8s<A, B, O, FAST>
where
    A: Float8Number + Float8 + Operand<O, B>,
    B: Float8Number + Float8,
    O: Number + Half,
{
    type A = A;
    type B = B;
    type O = O;
    const TARGETS: &[Target] = Matmul::FLOAT8_TARGETS;
    const SUMS: Sums = if FAST { Sums::Fast } else { Sums::Precise };

    fn left(len: usize) -> (Vec<A>, Vec<f64>) {
        float8_numbers(len, 1)
    }

    fn right(len: usize) -> (Vec<B>, Vec<f64>) {
        float8_numbers(len, 2)
    }

    fn sums(a: &[f64], b: &[f64], [m, n, k]: [usize; 3]) -> Vec<(f64, f64)> {
        let sum = if FAST { float8_sum_by_tensor_cores } else { float8_sum };
        let at = |at| sum(&a[at / n * k..][..k], &b[at % n * k..][..k]);
        (0..m * n).map(at).collect()
    }

    fn product<const R: usize>(
        matmul: &mut Matmul,
        stream: &Stream,
        a: &impl TensorArgument<A, R>,
        b: &impl TensorArgument<B, R>,
        c: &mut impl TensorArgumentMut<O, R>,
        epilogue: Epilogue<'_, O>,
    ) -> Result<()> {
        matmul.product_float8(stream, a, b, c, Epilogue { sums: Self::SUMS, ..epilogue })
    }
}

struct Case<K: Kind> {
    stream: Stream,
    shape: [usize; 3],
    a: DeviceTensor<K::A, 2>,
    b: DeviceTensor<K::B, 2>,
    sums: Vec<(f64, f64)>,
}

impl<K: Kind> Case<K> {
    fn new(stream: &Stream, shape @ [m, n, k]: [usize; 3]) -> Result<Case<K>> {
        let ((a, of_a), (b, of_b)) = (K::left(m * k), K::right(n * k));
        Ok(Case {
            stream: stream.clone(),
            shape,
            a: stream.upload(&a, [m, k])?,
            b: stream.upload(&b, [n, k])?,
            sums: K::sums(&of_a, &of_b, shape),
        })
    }

    fn unwritten(&self) -> Result<DeviceTensor<K::O, 2>> {
        let [m, n, _] = self.shape;
        self.stream.full([m, n], K::O::of(f64::NAN))
    }

    fn check(&self, what: &str, c: &DeviceTensor<K::O, 2>) -> Result<()> {
        assert_close(what, self.shape[1], &c.to_vec(&self.stream)?, &self.sums);
        Ok(())
    }
}

fn streams(targets: &[Target]) -> Result<Vec<Stream>> {
    devices(targets)?.iter().map(Device::stream).collect()
}

/// All plans that the extents allow. On one multiprocessor a block has several tiles, and adds to zeros.
fn every_plan<K: Kind>(shape @ [m, n, _]: [usize; 3], multiprocessors: usize) -> Result<()> {
    let case = Case::<K>::new(&hopper()?, shape)?;
    let mut matmul = Matmul::new(&case.stream)?;
    let majors = [Major::K; 2];
    let shape = of_one(shape);
    let plans = Plan::candidates::<K::A, K::B, K::O>(shape, majors, K::SUMS, multiprocessors);
    assert!(plans.len() > 3, "{shape:?}: {plans:?}");
    for plan in plans {
        let accumulate = multiprocessors == 1;
        let mut c = if accumulate { case.stream.zeros([m, n])? } else { case.unwritten()? };
        let epilogue = Epilogue { accumulate, ..Epilogue::default() };
        matmul.product_by(&case.stream, plan, &case.a, &case.b, &mut c, epilogue)?;
        case.check(&format!("{plan} for {shape:?}"), &c)?;
    }
    Ok(())
}

#[test]
fn every_plan_multiplies_tf32() -> Result<()> {
    every_plan::<Tf32>([19, 72, 132], MULTIPROCESSORS)?;
    every_plan::<Tf32>([150, 136, 68], MULTIPROCESSORS)?;
    every_plan::<Tf32>([136, 264, 36], 1)
}

#[test]
fn every_plan_multiplies_float8() -> Result<()> {
    every_plan::<E4m3<bf16>>([19, 72, 656], MULTIPROCESSORS)?;
    every_plan::<E4m3<f16>>([150, 136, 272], MULTIPROCESSORS)?;
    every_plan::<E4m3<bf16>>([136, 136, 144], 1)
}

#[test]
fn every_plan_multiplies_e5m2() -> Result<()> {
    every_plan::<E5m2ByE4m3>([19, 72, 656], MULTIPROCESSORS)?;
    every_plan::<E4m3ByE5m2>([150, 136, 272], MULTIPROCESSORS)?;
    every_plan::<E5m2ByE4m3>([136, 136, 144], 1)
}

#[test]
fn every_plan_has_fast_sums() -> Result<()> {
    every_plan::<Fast<bf16>>([150, 264, 656], MULTIPROCESSORS)?;
    every_plan::<Fast<f16>>([150, 264, 272], MULTIPROCESSORS)?;
    every_plan::<Fast<bf16>>([264, 264, 144], 1)
}

/// Large tiles have fast sums alone, small ones precise sums.
#[test]
fn fast_sums_replace_precise_ones_in_large_tiles() {
    let names = |m, sums| -> Vec<String> {
        let shape = [1, m, 1024, 1024];
        let plans = Plan::candidates::<e4m3, e4m3, bf16>(shape, [Major::K; 2], sums, 132);
        plans.iter().map(Plan::to_string).collect()
    };
    let are_fast = |name: &String| name.ends_with(", fast sums");
    let (precise, fast) = (names(1024, Sums::Precise), names(1024, Sums::Fast));
    assert!(!precise.iter().any(are_fast), "{precise:?}");
    let large = |name: &String| name.contains("x128 in") || name.contains("x256 in");
    assert!(fast.iter().all(|name| are_fast(name) == large(name)), "{fast:?}");
    for tile in ["128x128 in 1", "128x256 in 1", "128x64t in 1"] {
        assert!(fast.iter().any(|name| name.starts_with(tile)), "{fast:?}");
    }
    assert_eq!(names(20, Sums::Precise), names(20, Sums::Fast));
    assert!(!names(20, Sums::Fast).is_empty());
}

/// After a large product, the tensor cores of Hopper lose all small ones in the 14 bits that they keep.
#[test]
fn precise_sums_keep_small_products_after_a_large_one() -> Result<()> {
    fn of<K: Kind<O = bf16>>(large: [K::A; 2], one: [K::B; 1]) -> Result<()> {
        let k = 2048;
        for stream in streams(K::TARGETS)? {
            for (m, n) in [(1, 16), (20, 16), (130, 136)] {
                let mut a = vec![large[1]; m * k];
                a.iter_mut().step_by(k).for_each(|first| *first = large[0]);
                let (a, b) = (stream.upload(&a, [m, k])?, stream.full([n, k], one[0])?);
                let mut c = stream.zeros([m, n])?;
                let mut matmul = Matmul::new(&stream)?;
                K::product(&mut matmul, &stream, &a, &b, &mut c, Epilogue::default())?;
                // 4096 and 2047 eighths, of which those of the first 128 numbers may be lost; bf16 has multiples of 32 there.
                let exact = 4096.0 + 2047.0 / 8.0;
                for x in c.to_vec(&stream)? {
                    assert!((x.value() - exact).abs() <= 16.0 + 16.0, "{m} {n}: {x}");
                }
            }
        }
        Ok(())
    }
    let (large, small) = (e4m3::from_f32(256.0), e4m3::from_f32(0.007_812_5));
    of::<E4m3<bf16>>([large, small], [e4m3::from_f32(16.0)])?;
    let (large, small) = (e5m2::from_f32(4096.0), e5m2::from_f32(0.125));
    of::<E5m2ByE4m3>([large, small], [e4m3::ONE])
}

/// Tiles of each size, shares of `k` and none, rows that begin anywhere. The second product finds what the first one left.
fn on_every_card<K: Kind>() -> Result<()> {
    of_extents::<K>(&[
        ([1, 16, 16], 132),
        ([5, 72, 400], 30),
        ([70, 24, 272], 30),
        ([130, 136, 48], 1),
        ([260, 24, 16], 1),
        ([19, 13, 37], 132),
        ([66, 67, 21], 1),
    ])
}

/// Products of these extents, on so many multiprocessors.
fn of_extents<K: Kind>(all: &[([usize; 3], usize)]) -> Result<()> {
    for stream in streams(K::TARGETS)? {
        for &(shape, multiprocessors) in all {
            let case = Case::<K>::new(&stream, shape)?;
            let mut matmul = Matmul::on(&stream, multiprocessors)?;
            let runs = if multiprocessors == 30 { 2 } else { 1 };
            for _ in 0..runs {
                let mut c = case.unwritten()?;
                let (a, b) = (&case.a, &case.b);
                K::product(&mut matmul, &stream, a, b, &mut c, Epilogue::default())?;
                case.check(&format!("{shape:?} on {multiprocessors}"), &c)?;
            }
        }
    }
    Ok(())
}

#[test]
fn every_card_multiplies_tf32() -> Result<()> {
    on_every_card::<Tf32>()
}

#[test]
fn every_card_with_float8_multiplies_it() -> Result<()> {
    on_every_card::<E4m3<bf16>>()
}

#[test]
fn every_card_with_float8_multiplies_e5m2() -> Result<()> {
    on_every_card::<E5m2ByE4m3>()?;
    on_every_card::<E4m3ByE5m2>()
}

#[test]
fn every_card_with_float8_has_fast_sums() -> Result<()> {
    on_every_card::<Fast<bf16>>()?;
    of_extents::<Fast<bf16>>(&[(large_enough_for_fast_sums(), 1)])
}

/// Extents of which one multiprocessor computes a tile that has fast sums.
fn large_enough_for_fast_sums() -> [usize; 3] {
    let shape @ [m, n, k] = [264, 264, 144];
    let chosen = Plan::choose::<e4m3, e4m3, bf16>([1, m, n, k], [Major::K; 2], Sums::Fast, 1);
    assert!(chosen.is_some_and(|plan| plan.to_string().ends_with("fast sums")), "{chosen:?}");
    shape
}

/// `f32` that has more bits than TF32.
#[test]
fn operands_are_rounded_to_tf32_or_cut() -> Result<()> {
    for stream in streams(Matmul::TARGETS)? {
        for shape @ [m, n, k] in [[5, 72, 36], [70, 72, 33]] {
            let (a, b) = (numbers::<f32>(m * k, 1), numbers::<f32>(n * k, 2));
            let exact = sums(&a, &b, shape);
            let size = |at: usize| -> f64 {
                let terms = a[at / n * k..][..k].iter().zip(&b[at % n * k..][..k]);
                terms.map(|(x, y)| (x.value() * y.value()).abs()).sum()
            };
            // Both operands lose less than 2^-10 of them.
            let lost = |at: usize| size(at) * (2.0 * 2f64.powi(-10) + 2f64.powi(-20));
            let required: Vec<(f64, f64)> =
                exact.iter().enumerate().map(|(at, &(x, off))| (x, off + lost(at))).collect();
            let (a, b) = (stream.upload(&a, [m, k])?, stream.upload(&b, [n, k])?);
            let mut c = stream.full([m, n], f32::NAN)?;
            Matmul::new(&stream)?.product_tf32(&stream, &a, &b, &mut c)?;
            assert_close(&format!("{shape:?}"), n, &c.to_vec(&stream)?, &required);
        }
    }
    Ok(())
}

#[test]
fn operands_of_tf32_are_contiguous_along_either_axis() -> Result<()> {
    for stream in streams(Matmul::TARGETS)? {
        for (shape, multiprocessors) in [([136, 72, 36], 1), ([24, 72, 132], 30), ([2, 8, 12], 132)]
        {
            let [m, n, k] = shape;
            let case = Case::<Tf32>::new(&stream, shape)?;
            let turned = |x: &DeviceTensor<f32, 2>, [rows, columns]: [usize; 2]| {
                let turned = each_transposed(&x.to_vec(&stream)?, [rows, columns]);
                stream.upload(&turned, [columns, rows])
            };
            let (a, b) = (turned(&case.a, [m, k])?, turned(&case.b, [n, k])?);
            let (a, b) = (a.transpose(), b.transpose());
            let mut matmul = Matmul::on(&stream, multiprocessors)?;
            for (a, b) in [(&case.a.view(), &b), (&a, &case.b.view()), (&a, &b)] {
                let mut c = case.unwritten()?;
                matmul.product_tf32(&stream, a, b, &mut c)?;
                case.check(&format!("{shape:?}, {:?}, {:?}", a.strides(), b.strides()), &c)?;
            }
        }
    }
    Ok(())
}

/// A scale, a bias, an activation and what is there; columns of `c` that are contiguous.
fn with_an_epilogue<K: Kind>() -> Result<()> {
    with_epilogues::<K>(&[[5, 136, 80], [136, 24, 80], [70, 72, 0], [18, 33, 48]], None)
}

/// The same of these extents, on so many multiprocessors or all.
fn with_epilogues<K: Kind>(shapes: &[[usize; 3]], multiprocessors: Option<usize>) -> Result<()> {
    for stream in streams(K::TARGETS)? {
        for &shape @ [m, n, _] in shapes {
            let case = Case::<K>::new(&stream, shape)?;
            let (bias, old) = (numbers::<K::O>(n, 3), numbers::<K::O>(m * n, 4));
            let on_device = stream.upload(&bias, [n])?;
            let required: Vec<(f64, f64)> = (0..m * n)
                .map(|at| {
                    let ((sum, off), old) = (case.sums[at], old[at].value());
                    let x = 0.25 * sum + bias[at % n].value();
                    let y = activated(Some(Activation::Silu), x);
                    // No derivative is larger than 1.1. Eight roundings of f32 follow, the function's own 2 ulp among them, of numbers
                    // no larger than these.
                    let roundings = 2f64.powi(-20) * (x.abs() + y.abs() + old.abs());
                    (y + old, 1.1 * 0.25 * off + roundings)
                })
                .collect();
            let epilogue = Epilogue {
                scale: 0.25,
                bias: Some(&on_device),
                activation: Some(Activation::Silu),
                accumulate: true,
                sums: Sums::Precise,
            };
            let mut matmul = match multiprocessors {
                Some(some) => Matmul::on(&stream, some)?,
                None => Matmul::new(&stream)?,
            };
            let mut c = stream.upload(&old, [m, n])?;
            K::product(&mut matmul, &stream, &case.a, &case.b, &mut c, epilogue)?;
            assert_close(&format!("{shape:?}"), n, &c.to_vec(&stream)?, &required);
            let mut stored = stream.upload(&each_transposed(&old, [m, n]), [n, m])?;
            let mut c = stored.transpose_mut();
            K::product(&mut matmul, &stream, &case.a, &case.b, &mut c, epilogue)?;
            let c = each_transposed(&stored.to_vec(&stream)?, [n, m]);
            assert_close(&format!("columns of {shape:?}"), n, &c, &required);
        }
    }
    Ok(())
}

#[test]
fn tf32_has_an_epilogue() -> Result<()> {
    with_an_epilogue::<Tf32>()
}

#[test]
fn float8_has_an_epilogue() -> Result<()> {
    with_an_epilogue::<E4m3<f16>>()?;
    with_an_epilogue::<Fast<bf16>>()?;
    with_epilogues::<Fast<bf16>>(&[large_enough_for_fast_sums()], Some(1))
}

/// The transposed product has its operands in the other order, and so their types.
#[test]
fn e5m2_has_an_epilogue() -> Result<()> {
    with_an_epilogue::<E5m2ByE4m3>()?;
    with_an_epilogue::<E4m3ByE5m2>()
}

fn a_batch<K: Kind>() -> Result<()> {
    let (batches, shape @ [m, n, k]) = (3, [70, 24, 48]);
    let ((a, of_a), (b, of_b)) = (K::left(batches * m * k), K::right(batches * n * k));
    let matrices = of_a.chunks(m * k).zip(of_b.chunks(n * k));
    let required: Vec<(f64, f64)> = matrices.flat_map(|(a, b)| K::sums(a, b, shape)).collect();
    for stream in streams(K::TARGETS)? {
        let a = stream.upload(&a, [batches, m, k])?;
        let b = stream.upload(&b, [batches, n, k])?;
        let mut c = stream.full([batches, m, n], K::O::of(f64::NAN))?;
        let mut matmul = Matmul::new(&stream)?;
        K::product(&mut matmul, &stream, &a, &b, &mut c, Epilogue::default())?;
        assert_close("a batch", n, &c.to_vec(&stream)?, &required);
    }
    Ok(())
}

#[test]
fn batches_of_tf32_and_of_float8() -> Result<()> {
    a_batch::<Tf32>()?;
    a_batch::<E4m3<bf16>>()?;
    a_batch::<E5m2ByE4m3>()
}

fn no_extents<K: Kind>() -> Result<()> {
    for stream in streams(K::TARGETS)? {
        for [m, n, k] in [[0, 8, 16], [8, 0, 16], [0, 0, 0], [3, 40, 0]] {
            let (a, b) = (stream.zeros::<K::A, 2>([m, k])?, stream.zeros::<K::B, 2>([n, k])?);
            let mut c = stream.full([m, n], K::O::of(f64::NAN))?;
            let mut matmul = Matmul::new(&stream)?;
            K::product(&mut matmul, &stream, &a, &b, &mut c, Epilogue::default())?;
            assert!(c.to_vec(&stream)?.into_iter().all(|x| x.value() == 0.0), "{m} {n} {k}");
        }
    }
    Ok(())
}

#[test]
fn empty_extents_of_tf32_and_of_float8_give_nothing_or_zeros() -> Result<()> {
    no_extents::<Tf32>()?;
    no_extents::<E4m3<bf16>>()?;
    no_extents::<E4m3ByE5m2>()
}

fn not_finite<K: Kind>([one, infinity, nan]: [K::A; 3], one_of_b: K::B) -> Result<()> {
    let (n, k) = (16, 48);
    for stream in streams(K::TARGETS)? {
        for m in [3, 20] {
            let mut a = vec![one; m * k];
            (a[40], a[k + 3]) = (infinity, nan);
            let (a, b) = (stream.upload(&a, [m, k])?, stream.full([n, k], one_of_b)?);
            let mut c = stream.zeros::<K::O, 2>([m, n])?;
            let mut matmul = Matmul::new(&stream)?;
            K::product(&mut matmul, &stream, &a, &b, &mut c, Epilogue::default())?;
            let c: Vec<f64> = c.to_vec(&stream)?.into_iter().map(Number::value).collect();
            let infinite = K::A::DTYPE != e4m3::DTYPE;
            assert!(c[..n].iter().all(|x| x.is_infinite() == infinite && *x > 400.0), "{c:?}");
            assert!(c[n..2 * n].iter().all(|x| x.is_nan()), "{c:?}");
            assert!(c[2 * n..].iter().all(|&x| x == 48.0), "{c:?}");
        }
    }
    Ok(())
}

#[test]
fn nan_and_infinities_of_tf32_and_of_float8_spread() -> Result<()> {
    not_finite::<Tf32>([1.0, f32::INFINITY, f32::NAN], 1.0)?;
    // This format has no infinity: 448 is its largest number.
    let of = e4m3::from_f32;
    not_finite::<E4m3<bf16>>([of(1.0), of(448.0), of(f32::NAN)], of(1.0))?;
    // An exponent of five ones, and no fraction.
    let infinity = e5m2::from_bits(0b0111_1100);
    not_finite::<E5m2ByE4m3>([e5m2::ONE, infinity, e5m2::NAN], e4m3::ONE)
}

#[test]
fn what_float8_cannot_be_is_refused() -> Result<()> {
    for stream in streams(Matmul::FLOAT8_TARGETS)? {
        let case = Case::<E4m3<bf16>>::new(&stream, [32, 32, 32])?;
        let mut matmul = Matmul::new(&stream)?;
        let mut c = case.unwritten()?;
        let (turned, whole) = (case.b.transpose(), Epilogue::default());
        let refused = matmul.product_float8(&stream, &case.a.view(), &turned, &mut c, whole);
        assert!(matches!(refused, Err(Error::FactBroken { .. })), "{refused:?}");
        let b = stream.zeros::<e4m3, 2>([32, 16])?;
        let refused = matmul.product_float8(&stream, &case.a, &b, &mut c, whole);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    if std::env::var_os("KILN_DEVICE").is_some() {
        return Ok(()); // an emulator of a GPU without FP8 refuses it below
    }
    let case = Case::<E4m3<bf16>>::new(&Device::emulator(Target::Sm80)?.stream()?, [8, 16, 16])?;
    let mut c = case.unwritten()?;
    let refused = Matmul::new(&case.stream)?.product_float8(
        &case.stream,
        &case.a,
        &case.b,
        &mut c,
        Epilogue::default(),
    );
    assert!(matches!(refused, Err(Error::TargetNotRunnable { .. })), "{refused:?}");
    Ok(())
}

#[test]
fn a_plan_for_another_type_is_refused() -> Result<()> {
    let case = Case::<Tf32>::new(&hopper()?, [16, 64, 64])?;
    let mut matmul = Matmul::new(&case.stream)?;
    for plan in Plan::candidates::<bf16, bf16, bf16>(
        [1, 16, 64, 64],
        [Major::K; 2],
        Sums::Precise,
        MULTIPROCESSORS,
    ) {
        let (mut c, whole) = (case.unwritten()?, Epilogue::default());
        let refused = matmul.product_by(&case.stream, plan, &case.a, &case.b, &mut c, whole);
        assert!(matches!(refused, Err(Error::InstanceArgument { .. })), "{plan}: {refused:?}");
    }
    Ok(())
}
