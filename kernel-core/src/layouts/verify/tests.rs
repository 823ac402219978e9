//! Each rule, broken once.

use kernel_layout::forms::blocked;
use kernel_layout::{Dim, Form, Layout};

use super::verify;
use crate::ir::tests::builder::{Builder, tile};
use crate::ir::{Binary, Dtype, Kernel, MemoryOp, Op, ProductOp, Region, StmtKind, TileOp, Value};
use crate::layouts::{Inferred, infer};

/// Values of the kernel that tests give other layouts.
struct Named {
    loaded: Value,
    row: Value,
    spread: Value,
    carried: Value,
    yielded: Value,
    factor: Value,
    sum: Value,
    reduced: Value,
}

/// Expansion, reduction, loop, branch, product and conversion.
fn sound() -> (Kernel, Inferred, Named) {
    let mut b = Builder::new("sound", 2);
    let (x, out) = (b.tensor("x", Dtype::F16, 2), b.tensor("out", Dtype::F32, 2));
    let (start, end, step) = (b.int(0), b.int(4), b.int(1));
    let loaded = b.load_tensor(x, &[start, start], &[32, 32]);
    let zeros = b.zeros(Dtype::F32, &[32, 32]);
    let mut named = Vec::new();
    let ends = b.count([start, end, step], &[zeros], |b, _, carried| {
        named.extend(carried);
        vec![b.dot(loaded, loaded, carried[0])]
    });
    let condition =
        b.op(crate::ir::Compare::Lt, &[start, end], crate::ir::Type::scalar(Dtype::Bool));
    let mut yielded = None;
    let picked = b.branch(
        condition,
        |b| {
            let twice = b.binary(Binary::Add, ends[0], ends[0]);
            yielded = Some(twice);
            vec![twice]
        },
        |_| vec![ends[0]],
    );
    let reduced = b.reduce(picked[0], 1, Binary::Max);
    let row = b.binary(Binary::Add, reduced, reduced);
    let spread = b.spread(row, 1, &[32, 32]);
    let sum = b.binary(Binary::Sub, picked[0], spread);
    b.store_tensor(out, &[start, start], sum);
    let mut kernel = b.finish();
    let inferred = infer(&mut kernel).expect("the kernel has layouts");
    let mut factor = None;
    find(&kernel.body, &mut |kind| {
        if let StmtKind::Op { op: Op::Product(ProductOp::Dot(_)), args, .. } = kind {
            factor = Some(args[1]);
        }
    });
    let yielded = yielded.expect("the branch was built");
    let factor = factor.expect("there is a product");
    let named = Named { loaded, row, spread, carried: named[0], yielded, factor, sum, reduced };
    (kernel, inferred, named)
}

fn find(region: &Region, visit: &mut dyn FnMut(&StmtKind)) {
    for stmt in &region.stmts {
        visit(&stmt.kind);
        match &stmt.kind {
            StmtKind::Op { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Ptx { .. } => {}
            StmtKind::If { then, otherwise, .. } => {
                find(then, visit);
                find(otherwise, visit);
            }
            StmtKind::For { .. } | StmtKind::Loop { .. } | StmtKind::Specialize { .. } => {
                stmt.kind.regions().into_iter().for_each(|body| find(body, visit));
            }
        }
    }
}

/// Another layout of that shape.
fn other(shape: &[u32]) -> Layout {
    let ones = vec![1; shape.len()];
    let mut lanes = ones.clone();
    lanes[0] = 32;
    let mut warps = ones.clone();
    warps[0] = 2;
    let order: Vec<u32> = (0..).take(shape.len()).collect();
    blocked(&ones, &lanes, &warps, &order, shape).expect("a layout of every shape")
}

/// What is said where one value has another layout.
fn with(value: impl FnOnce(&Named) -> Value) -> String {
    let (kernel, mut inferred, named) = sound();
    assert_eq!(verify(&kernel, &inferred), Ok(()));
    let value = value(&named);
    let layout = other(kernel.ty(value).shape());
    assert_ne!(inferred.layouts.get(value), Some(&layout), "it is another one");
    inferred.layouts.insert(value, layout);
    verify(&kernel, &inferred).expect_err("the layout does not fit")
}

#[test]
fn operands_have_the_layout_of_the_result() {
    assert!(with(|named| named.sum).starts_with("an operand: "));
    assert!(with(|named| named.spread).starts_with("an operand: "));
    assert!(with(|named| named.row).starts_with("an operand: "));
}

#[test]
fn loops_and_branches_pass_what_is_received() {
    assert!(with(|named| named.carried).starts_with("a loop's result: "));
    assert!(with(|named| named.yielded).starts_with("an operand: "));
    let (mut kernel, mut inferred, named) = sound();
    // A conversion of what the branch yields, to what nobody receives.
    let strange = kernel.values.alloc(kernel.values[named.yielded].clone());
    let layout = other(kernel.ty(strange).shape());
    inferred.layouts.insert(strange, layout.clone());
    for stmt in &mut kernel.body.stmts {
        if let StmtKind::If { then, .. } = &mut stmt.kind {
            let convert = StmtKind::Op {
                op: Op::Tile(TileOp::ToLayout(Form::Linear(layout.clone()))),
                args: vec![named.yielded],
                result: Some(strange),
            };
            then.stmts.push(crate::ir::Stmt { kind: convert, loc: stmt.loc });
            then.end = crate::ir::Terminator::Yield(vec![strange]);
        }
    }
    let said = verify(&kernel, &inferred).expect_err("the branch's result has another layout");
    assert!(said.starts_with("a yield: "), "{said}");
}

#[test]
fn factors_hold_what_the_accumulator_multiplies() {
    // The conversion that makes the operand is the first to notice.
    assert!(with(|named| named.factor).contains(" is converted to "));
    let (kernel, mut inferred, named) = sound();
    let mut kernel = kernel;
    for stmt in &mut kernel.body.stmts {
        if let StmtKind::For { body, .. } = &mut stmt.kind {
            for stmt in &mut body.stmts {
                if let StmtKind::Op { op: Op::Product(ProductOp::Dot(_)), args, .. } =
                    &mut stmt.kind
                {
                    args[0] = named.loaded;
                }
            }
        }
    }
    let said = verify(&kernel, &inferred).expect_err("the factor is as it was loaded");
    assert!(said.starts_with("an operand: "), "{said}");
    // By multiply-add, too: the accumulator of another layout requires rows and columns of its own.
    let mut b = Builder::new("slow", 2);
    let out = b.tensor("out", Dtype::F32, 2);
    let start = b.int(0);
    let factor = b.load_tensor(out, &[start, start], &[32, 32]);
    let zeros = b.zeros(Dtype::F32, &[32, 32]);
    let product = b.dot(factor, factor, zeros);
    b.store_tensor(out, &[start, start], product);
    let mut slow = b.finish();
    inferred = infer(&mut slow).expect("the kernel has layouts");
    assert_eq!(verify(&slow, &inferred), Ok(()));
    for stmt in &mut slow.body.stmts {
        if let StmtKind::Op { op: Op::Product(ProductOp::Dot(_)), args, .. } = &mut stmt.kind {
            args.swap(0, 1);
        }
    }
    let said = verify(&slow, &inferred).expect_err("rows are not columns");
    assert!(said.starts_with("an operand: "), "{said}");
}

#[test]
fn reductions_leave_the_slice() {
    assert!(with(|named| named.reduced).contains("a reduction's result: "));
}

#[test]
fn a_layout_covers_its_tile_and_its_threads() {
    let (mut kernel, mut inferred, named) = sound();
    let layout = blocked(&[1, 1], &[32, 1], &[4, 1], &[0, 1], &[32, 32]).expect("a layout");
    inferred.layouts.insert(named.loaded, layout);
    let said = verify(&kernel, &inferred).expect_err("two warps too many");
    assert!(said.contains("which does not cover it"), "{said}");
    let half = other(&[16, 32]);
    inferred.layouts.insert(named.loaded, half);
    let said = verify(&kernel, &inferred).expect_err("half of the rows");
    assert!(said.contains("has a layout of [16, 32]"), "{said}");
    let lost = kernel.values.alloc(kernel.values[named.loaded].clone());
    kernel.values[lost].ty = tile(Dtype::F16, &[32, 32]);
    kernel.body.stmts[3].kind = StmtKind::Op {
        op: Op::Memory(MemoryOp::LoadTensor(0, crate::ir::Evict::Normal)),
        args: vec![first(&kernel), first(&kernel)],
        result: Some(lost),
    };
    let said = verify(&kernel, &inferred).expect_err("a tile without a layout");
    assert!(said.ends_with("has no layout"), "{said}");
}

fn first(kernel: &Kernel) -> Value {
    let StmtKind::Op { result: Some(result), .. } = kernel.body.stmts[0].kind else {
        unreachable!("the kernel begins with a constant")
    };
    result
}

#[test]
fn shared_memory_holds_every_element() {
    let mut b = Builder::new("shared", 1);
    let (root, window) = b.shared(Dtype::F32, &[8, 8]);
    let loaded = b.load_shared(window);
    b.effect(MemoryOp::StoreShared, &[window, loaded]);
    let mut kernel = b.finish();
    let mut inferred = infer(&mut kernel).expect("the kernel has layouts");
    assert_eq!(verify(&kernel, &inferred), Ok(()));
    let bases = vec![vec![0, 1], vec![0, 2], vec![0, 4], vec![1, 0], vec![2, 0], vec![0, 0]];
    let outs = vec![(Dim::Axis(0), 8), (Dim::Axis(1), 8)];
    let holes = Layout::new(vec![(Dim::Offset, bases)], outs).expect("bases within the shape");
    inferred.shared.insert(root, holes);
    let said = verify(&kernel, &inferred).expect_err("four rows have no place");
    assert!(said.contains("does not hold every element"), "{said}");
}
