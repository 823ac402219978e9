//! Facts about values: each is checked against the values themselves.

use crate::ir::tests::builder::{Builder, tile};
use crate::ir::{Binary, Compare, Const, Dtype, Elem, Fact, SourceOp, Type, Value};
use crate::lower::facts::Facts;

/// The runs that facts claim of `values` must be there; and at least `required` of them (contiguity, divisor, constancy).
fn check(facts: &Facts<'_>, value: Value, values: &[i64], required: (u32, u32, u32)) {
    let axis = facts.axis(value, 0);
    let divisor = 1u32 << axis.log2_multiple;
    assert_eq!((axis.contiguity, divisor, axis.constancy), required);
    for run in values.chunks(usize::try_from(axis.contiguity).expect("a run")) {
        assert_eq!(run[0].rem_euclid(i64::from(divisor)), 0);
        assert!(run.windows(2).all(|pair| pair[1] == pair[0] + 1), "{run:?}");
    }
    for run in values.chunks(usize::try_from(axis.constancy).expect("a run")) {
        assert!(run.iter().all(|value| *value == run[0]), "{run:?}");
    }
}

#[test]
fn offsets_of_a_block_run_on() {
    let mut b = Builder::new("k", 4);
    let n = b.scalar_param("n", Dtype::I32);
    b.fact(Fact::ScalarMultiple { param: n, of: 48 });
    let start = b.block_start(0, 96);
    let start = b.splat(start, &[256]);
    let range = b.arange(256);
    let offsets = b.binary(Binary::Add, start, range);
    let eight = b.int(8);
    let eight = b.splat(eight, &[256]);
    let scaled = b.binary(Binary::Mul, offsets, eight);
    let groups = b.binary(Binary::Div, range, eight);
    let bound = b.op(SourceOp::ParamScalar(n), &[], Type::scalar(Dtype::I32));
    let bound = b.splat(bound, &[256]);
    let mask = b.op(Compare::Lt, &[offsets, bound], tile(Dtype::Bool, &[256]));
    let above = b.op(Compare::Gt, &[offsets, bound], tile(Dtype::Bool, &[256]));
    let kernel = b.finish();
    let facts = Facts::of(&kernel);
    let base = 3 * 96;
    let values = |f: &dyn Fn(i64) -> i64| -> Vec<i64> { (0..256).map(f).collect() };
    check(&facts, offsets, &values(&|i| base + i), (256, 32, 1));
    check(&facts, scaled, &values(&|i| (base + i) * 8), (1, 8, 1));
    check(&facts, groups, &values(&|i| i / 8), (1, 1, 8));
    check(&facts, mask, &values(&|i| i64::from(base + i < 48 * 7)), (1, 1, 16));
    check(&facts, above, &values(&|i| i64::from(base + i > 48 * 7)), (1, 1, 1));
}

#[test]
fn pointers_count_in_bytes() {
    let mut b = Builder::new("k", 4);
    let data = b.pointer("data", Dtype::F16);
    let ty = Type::Scalar(Elem::Ptr(Dtype::F16));
    let base = b.op(SourceOp::ParamPtr(data), &[], ty);
    let base = b.splat(base, &[128]);
    let range = b.arange(128);
    let pointers = b.op(Binary::Add, &[base, range], Type::Tile(Elem::Ptr(Dtype::F16), vec![128]));
    let four = b.op(Const::Int(4), &[], Type::scalar(Dtype::I32));
    let four = b.splat(four, &[128]);
    let moved = b.op(Binary::Add, &[pointers, four], Type::Tile(Elem::Ptr(Dtype::F16), vec![128]));
    let kernel = b.finish();
    let facts = Facts::of(&kernel);
    let [pointers, moved] = [pointers, moved].map(|value| facts.axis(value, 0));
    assert_eq!((pointers.contiguity, 1 << pointers.log2_multiple), (128, 16));
    assert_eq!((moved.contiguity, 1 << moved.log2_multiple), (128, 8));
}

#[test]
fn a_loop_that_moves_pointers_keeps_what_every_turn_has() {
    let mut b = Builder::new("k", 4);
    let range = b.arange(64);
    let (zero, ten, one, step) = (b.int(0), b.int(10), b.int(1), b.int(4));
    let step = b.splat(step, &[64]);
    let mut inside = None;
    b.count([zero, ten, one], &[range], |b, _, carried| {
        inside = Some(carried[0]);
        vec![b.binary(Binary::Add, carried[0], step)]
    });
    let kernel = b.finish();
    let axis = Facts::of(&kernel).axis(inside.expect("the body was built"), 0);
    assert_eq!((axis.contiguity, 1 << axis.log2_multiple), (64, 4));
}

#[test]
fn a_loop_over_an_extent_stays_inside() {
    let mut b = Builder::new("k", 4);
    let x = b.plain_tensor("x", Dtype::F32, 1);
    b.fact(Fact::DimMultiple { param: x, axis: 0, of: 32 });
    let (zero, step) = (b.int(0), b.int(32));
    let extent = b.dim(x, 0);
    let mut offset = None;
    b.count([zero, extent, step], &[], |_, induction, _| {
        offset = Some(induction);
        vec![]
    });
    let kernel = b.finish();
    let facts = Facts::of(&kernel);
    let offset = offset.expect("the body was built");
    assert!(facts.inside(offset, 32, x, 0));
    assert!(!facts.inside(offset, 64, x, 0));
    assert!(!facts.inside(zero, 32, x, 0));
}

#[test]
fn bits_and_quotients_keep_what_divides_them() {
    let mut b = Builder::new("k", 4);
    let n = b.scalar_param("n", Dtype::I32);
    b.fact(Fact::ScalarMultiple { param: n, of: 96 });
    let n = b.op(SourceOp::ParamScalar(n), &[], Type::scalar(Dtype::I32));
    let [two, four, eight, twelve] = [2, 4, 8, 12].map(|value| b.int(value));
    let values = [
        (b.binary(Binary::And, n, four), 32),
        (b.binary(Binary::Or, n, eight), 8),
        (b.binary(Binary::Xor, n, twelve), 4),
        (b.binary(Binary::Shr, n, two), 8),
        (b.binary(Binary::Div, n, eight), 4),
        (b.binary(Binary::Div, n, twelve), 1),
        (b.binary(Binary::Rem, n, twelve), 4),
    ];
    let kernel = b.finish();
    let facts = Facts::of(&kernel);
    for (value, required) in values {
        assert_eq!(facts.divisor(value), required, "{}", kernel.values[value].ty);
    }
}
