//! How wide accesses may be.

use super::{Access, Info, analyze};
use crate::eval::{self, Arg};
use crate::ir::tests::builder::{Builder, tile};
use crate::ir::{
    Binary, Compare, Dtype, Elem, ElementwiseOp, Fact, Kernel, MemoryOp, Region, SourceOp,
    StmtKind, Type, Value,
};

/// The accesses of a kernel to global memory, in order.
fn accesses(kernel: &Kernel) -> Vec<Access> {
    let known = analyze(kernel);
    let mut found = Vec::new();
    let mut open: Vec<&Region> = vec![&kernel.body];
    while let Some(region) = open.pop() {
        for stmt in &region.stmts {
            match &stmt.kind {
                StmtKind::Op { op, args, .. } => found.extend(known.access(kernel, op, args)),
                StmtKind::For { .. }
                | StmtKind::Loop { .. }
                | StmtKind::If { .. }
                | StmtKind::Specialize { .. } => open.extend(stmt.kind.regions()),
                StmtKind::Reduce { .. } | StmtKind::Scan { .. } | StmtKind::Ptx { .. } => {}
            }
        }
    }
    found
}

fn access(axis: u32, elements: u32) -> Vec<Access> {
    vec![Access { axis, elements }]
}

/// A load of a tensor of `f16` at offset (0, `column`).
fn loaded(facts: &[Fact], column: impl FnOnce(&mut Builder) -> Value) -> Vec<Access> {
    let mut b = Builder::new("loaded", 1);
    let x = b.plain_tensor("x", Dtype::F16, 2);
    for fact in facts {
        b.fact(*fact);
    }
    let (row, column) = (b.int(0), column(&mut b));
    b.load_tensor(x, &[row, column], &[16, 16]);
    accesses(&b.finish())
}

#[test]
fn every_fact_counts() {
    let facts = [
        Fact::PointerAligned { param: 0, bytes: 16 },
        Fact::StrideEquals { param: 0, axis: 1, value: 1 },
        Fact::StrideMultiple { param: 0, axis: 0, of: 24 },
        Fact::DimMultiple { param: 0, axis: 1, of: 40 },
    ];
    let zero = |b: &mut Builder| b.int(0);
    assert_eq!(loaded(&facts, zero), access(1, 8));
    for missing in 0..facts.len() {
        let some: Vec<Fact> = facts
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != missing)
            .map(|(_, fact)| *fact)
            .collect();
        assert_eq!(loaded(&some, zero), access(1, 1), "without {:?}", facts[missing]);
    }
    assert_eq!(loaded(&facts, |b| b.block_start(0, 12)), access(1, 4));
    assert_eq!(loaded(&facts, |b| b.block_id(0)), access(1, 1));
    let columns = [
        Fact::PointerAligned { param: 0, bytes: 16 },
        Fact::StrideEquals { param: 0, axis: 0, value: 1 },
        Fact::StrideEquals { param: 0, axis: 1, value: 64 },
        Fact::DimMultiple { param: 0, axis: 0, of: 8 },
    ];
    assert_eq!(loaded(&columns, |b| b.block_id(0)), access(0, 8));
}

/// A load through pointers to `f32`, aligned to 16 bytes, at offsets made from a range of 64.
fn pointed(offsets: impl FnOnce(&mut Builder, Value) -> Value) -> Vec<Access> {
    let mut b = Builder::new("pointed", 1);
    let x = b.pointer("x", Dtype::F32);
    let range = b.arange(64);
    let offsets = offsets(&mut b, range);
    let base = b.op(SourceOp::ParamPtr(x), &[], Type::Scalar(Elem::Ptr(Dtype::F32)));
    let base = b.splat(base, &[64]);
    let pointers = b.binary(Binary::Add, base, offsets);
    b.op(MemoryOp::LoadPtr { masked: false }, &[pointers], tile(Dtype::F32, &[64]));
    accesses(&b.finish())
}

fn with(b: &mut Builder, op: Binary, tile: Value, value: i32) -> Value {
    let value = b.int(value);
    let value = b.splat(value, &[64]);
    b.binary(op, tile, value)
}

#[test]
fn runs_survive_index_arithmetic() {
    assert_eq!(pointed(|_, range| range), access(0, 4));
    assert_eq!(pointed(|b, range| with(b, Binary::Add, range, 6)), access(0, 2));
    assert_eq!(pointed(|b, range| with(b, Binary::Add, range, 3)), access(0, 1));
    assert_eq!(pointed(|b, range| with(b, Binary::Mul, range, 1)), access(0, 4));
    assert_eq!(pointed(|b, range| with(b, Binary::Mul, range, 2)), access(0, 1));
    assert_eq!(pointed(|b, range| with(b, Binary::Rem, range, 24)), access(0, 4));
    assert_eq!(pointed(|b, range| with(b, Binary::Rem, range, 6)), access(0, 2));
    // Below zero a remainder turns round.
    let below = |b: &mut Builder, range| {
        let shifted = with(b, Binary::Sub, range, 64);
        with(b, Binary::Rem, shifted, 24)
    };
    assert_eq!(pointed(below), access(0, 1));
    let wide = |b: &mut Builder, range| b.cast(range, Dtype::I64);
    assert_eq!(pointed(wide), access(0, 4));
    let narrow = |b: &mut Builder, range| {
        let wide = b.cast(range, Dtype::I64);
        b.cast(wide, Dtype::I32)
    };
    assert_eq!(pointed(narrow), access(0, 1));
}

#[test]
fn masks_hold_for_whole_runs() {
    let masked = |bound: i32| {
        let mut b = Builder::new("masked", 1);
        let x = b.pointer("x", Dtype::F32);
        let (range, bound) = (b.arange(64), b.int(bound));
        let bound = b.splat(bound, &[64]);
        let mask = b.op(Compare::Lt, &[range, bound], tile(Dtype::Bool, &[64]));
        let base = b.op(SourceOp::ParamPtr(x), &[], Type::Scalar(Elem::Ptr(Dtype::F32)));
        let base = b.splat(base, &[64]);
        let pointers = b.binary(Binary::Add, base, range);
        let other = b.zeros(Dtype::F32, &[64]);
        b.same(MemoryOp::LoadPtr { masked: true }, &[pointers, mask, other]);
        accesses(&b.finish())
    };
    assert_eq!(masked(48), access(0, 4));
    assert_eq!(masked(50), access(0, 2));
    assert_eq!(masked(51), access(0, 1));
}

#[test]
fn loops_keep_what_every_turn_keeps() {
    let moved = |step: i32| {
        let mut b = Builder::new("moved", 1);
        let x = b.pointer("x", Dtype::F32);
        let range = b.arange(64);
        let base = b.op(SourceOp::ParamPtr(x), &[], Type::Scalar(Elem::Ptr(Dtype::F32)));
        let base = b.splat(base, &[64]);
        let pointers = b.binary(Binary::Add, base, range);
        let iterations = [b.int(0), b.int(8), b.int(1)];
        b.count(iterations, &[pointers], |b, _, carried| {
            b.op(MemoryOp::LoadPtr { masked: false }, &[carried[0]], tile(Dtype::F32, &[64]));
            vec![with(b, Binary::Add, carried[0], step)]
        });
        accesses(&b.finish())
    };
    assert_eq!(moved(64), access(0, 4));
    assert_eq!(moved(2), access(0, 2));
    assert_eq!(moved(1), access(0, 1));
}

/// A tile of 64 numbers made by a few operations that `next` chooses.
fn expression(b: &mut Builder, next: &mut impl FnMut(u32) -> u32) -> Value {
    const CONSTANTS: [i32; 8] = [0, 1, 2, 3, 8, 12, 16, 40];
    let mut tiles = vec![b.arange(64)];
    for value in CONSTANTS {
        let value = b.int(value);
        tiles.push(b.splat(value, &[64]));
    }
    for _ in 0..4 {
        let mut pick = || tiles[next(tiles.len().try_into().expect("few tiles")) as usize];
        let (x, y) = (pick(), pick());
        // Divisors are constants other than 0.
        let divisor = tiles[2 + next(7) as usize];
        let tile = match next(9) {
            0 | 1 => b.binary(Binary::Add, x, y),
            2 => b.binary(Binary::Sub, x, y),
            3 => b.binary(Binary::Mul, x, y),
            4 => b.binary(Binary::Rem, x, divisor),
            5 => b.binary(Binary::Div, x, divisor),
            6 => b.binary(Binary::Min, x, y),
            7 => {
                let mask = b.op(Compare::Lt, &[x, y], tile(Dtype::Bool, &[64]));
                let other = tiles[next(9) as usize];
                b.op(ElementwiseOp::Select, &[mask, y, other], tile(Dtype::I32, &[64]))
            }
            _ => {
                let mask = b.op(Compare::Ge, &[x, y], tile(Dtype::Bool, &[64]));
                b.cast(mask, Dtype::I32)
            }
        };
        tiles.push(tile);
    }
    tiles[tiles.len() - 1]
}

/// What is claimed of a tile of rank 1 holds for its elements.
fn check_claims(info: &Info, elements: &[i64]) {
    let axis = info.axes[0];
    for run in elements.chunks(axis.contiguity as usize) {
        assert!(run.windows(2).all(|pair| pair[1] == pair[0] + 1), "{info:?} of {elements:?}");
        assert_eq!(run[0] % (1 << axis.log2_multiple), 0, "{info:?} of {elements:?}");
    }
    for run in elements.chunks(axis.constancy as usize) {
        assert!(run.iter().all(|element| *element == run[0]), "{info:?} of {elements:?}");
    }
    if let Some(value) = info.value {
        assert!(elements.iter().all(|element| i128::from(*element) == value), "{info:?}");
    }
    assert!(
        !info.natural || elements.iter().all(|element| *element >= 0),
        "{info:?} of {elements:?}"
    );
}

#[test]
fn claims_hold_for_random_expressions() {
    let mut state = 7_u32;
    let mut next = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    for _ in 0..3000 {
        let mut b = Builder::new("expression", 1);
        let out = b.plain_tensor("out", Dtype::I32, 1);
        let tile = expression(&mut b, &mut next);
        let zero = b.int(0);
        b.store_tensor(out, &[zero], tile);
        let kernel = b.finish();
        let data = vec![0; 256];
        let mut args =
            [Arg::Tensor { data, dtype: Dtype::I32, shape: vec![64], strides: vec![1], offset: 0 }];
        eval::run(&kernel, [1, 1, 1], &mut args).expect("it runs");
        let Arg::Tensor { data, .. } = &args[0] else { unreachable!("a tensor") };
        let word =
            |word: &[u8]| i64::from(i32::from_le_bytes(word.try_into().expect("four bytes")));
        let elements: Vec<i64> = data.chunks(4).map(word).collect();
        check_claims(&analyze(&kernel).infos[tile], &elements);
    }
}
