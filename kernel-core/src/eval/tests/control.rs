//! Loops and branches.

use super::super::Fault;
use super::{fault, ints, run, to_ints};
use crate::ir::tests::builder::Builder;
use crate::ir::{
    Binary, Compare, Dtype, ElementwiseOp, Kernel, Op, Region, Stmt, StmtKind, Terminator, Type,
    Value,
};
use crate::loc::Loc;

/// Adds up the induction variable in `out[0]`, and counts the iterations in `out[1]`.
fn counting(from: i32, to: i32, step: i32) -> Kernel {
    let mut b = Builder::new("counting", 1);
    let out = b.tensor("out", Dtype::I32, 1);
    let range = [from, to, step].map(|bound| b.int(bound));
    let (zero, one) = (b.int(0), b.int(1));
    let ends = b.count(range, &[zero, zero], |b, at, carried| {
        vec![b.binary(Binary::Add, carried[0], at), b.binary(Binary::Add, carried[1], one)]
    });
    for (at, end) in [zero, one].into_iter().zip(ends) {
        let end = b.splat(end, &[1]);
        b.store_tensor(out, &[at], end);
    }
    b.finish()
}

#[test]
fn loops_count_up_and_down() {
    for (range, required) in
        [((0, 5, 2), [6, 3]), ((5, 0, -2), [9, 3]), ((3, 3, 1), [0, 0]), ((4, 0, 1), [0, 0])]
    {
        let mut args = [ints(&[2], &[9, 9])];
        run(&counting(range.0, range.1, range.2), [1, 1, 1], &mut args).expect("it runs");
        assert_eq!(to_ints(&args[0]), required, "{range:?}");
    }
    assert_eq!(fault(&counting(0, 1, 0), &mut [ints(&[2], &[0, 0])]), Fault::ZeroStep);
}

fn op(b: &mut Builder, op: impl Into<Op>, args: &[Value], ty: Type) -> (Stmt, Value) {
    let result = b.value(ty);
    let kind = StmtKind::Op { op: op.into(), args: args.to_vec(), result: Some(result) };
    (Stmt { kind, loc: Loc::KERNEL }, result)
}

fn region(stmts: Vec<Stmt>, end: Terminator) -> Region {
    Region { args: Vec::new(), stmts, end }
}

/// `loop { if x > 100 { break 'depth x }; x = x + x }` inside of a counted loop of three iterations that carries `y = y + 1`.
fn doubling(depth: u32) -> Kernel {
    let mut b = Builder::new("doubling", 1);
    let out = b.tensor("out", Dtype::I32, 1);
    let (zero, one, three, limit) = (b.int(0), b.int(1), b.int(3), b.int(100));
    let ends = b.count([zero, three, one], &[zero], |b, _, carried| {
        let next = b.binary(Binary::Add, carried[0], one);
        let (x, doubled_end) =
            (b.value(Type::scalar(Dtype::I32)), b.value(Type::scalar(Dtype::I32)));
        let (compare, large) = op(
            b,
            Op::Elementwise(ElementwiseOp::Compare(Compare::Gt)),
            &[x, limit],
            Type::scalar(Dtype::Bool),
        );
        let (double, doubled) = op(
            b,
            Op::Elementwise(ElementwiseOp::Binary(Binary::Add)),
            &[x, x],
            Type::scalar(Dtype::I32),
        );
        let leave = region(Vec::new(), Terminator::Break(depth, vec![x]));
        let stay = region(Vec::new(), Terminator::Yield(Vec::new()));
        let branch =
            StmtKind::If { condition: large, then: leave, otherwise: stay, results: Vec::new() };
        let stmts = vec![compare, Stmt { kind: branch, loc: Loc::KERNEL }, double];
        let mut body = region(stmts, Terminator::Continue(0, vec![doubled]));
        body.args = vec![x];
        b.push(StmtKind::Loop { inits: vec![one], body, results: vec![doubled_end] });
        vec![b.binary(Binary::Add, next, doubled_end)]
    });
    let end = b.splat(ends[0], &[1]);
    b.store_tensor(out, &[zero], end);
    b.finish()
}

#[test]
fn breaks_leave_the_loop_that_they_name() {
    let mut args = [ints(&[1], &[0])];
    run(&doubling(0), [1, 1, 1], &mut args).expect("it runs");
    assert_eq!(to_ints(&args[0]), [3 * (1 + 128)]);
    run(&doubling(1), [1, 1, 1], &mut args).expect("it runs");
    assert_eq!(to_ints(&args[0]), [128]);
}

#[test]
fn a_return_ends_one_block() {
    let mut b = Builder::new("leaving", 1);
    let out = b.tensor("out", Dtype::I32, 1);
    let (block, one, zero) = (b.block_id(0), b.int(1), b.int(0));
    let first = b.op(Compare::Eq, &[block, zero], Type::scalar(Dtype::Bool));
    let leave = region(Vec::new(), Terminator::Return);
    let stay = region(Vec::new(), Terminator::Yield(Vec::new()));
    b.push(StmtKind::If { condition: first, then: leave, otherwise: stay, results: Vec::new() });
    let ones = b.splat(one, &[1]);
    b.store_tensor(out, &[block], ones);
    let mut args = [ints(&[3], &[0; 3])];
    run(&b.finish(), [3, 1, 1], &mut args).expect("it runs");
    assert_eq!(to_ints(&args[0]), [0, 1, 1]);
}

#[test]
fn branches_give_one_of_their_values() {
    let mut b = Builder::new("choosing", 1);
    let out = b.tensor("out", Dtype::I32, 1);
    let (block, zero) = (b.block_id(0), b.int(0));
    let first = b.op(Compare::Eq, &[block, zero], Type::scalar(Dtype::Bool));
    let chosen = b.branch(first, |b| vec![b.int(7)], |b| vec![b.int(8)]);
    let chosen = b.splat(chosen[0], &[1]);
    b.store_tensor(out, &[block], chosen);
    let mut args = [ints(&[2], &[0; 2])];
    run(&b.finish(), [2, 1, 1], &mut args).expect("it runs");
    assert_eq!(to_ints(&args[0]), [7, 8]);
}
