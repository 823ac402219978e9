//! The solver on an analysis whose answers are worked out by hand: `copy_wait n` marks a way with `n`, and `sync` clears it.

use std::collections::{BTreeMap, BTreeSet};

use la_arena::{Arena, RawIdx};

use super::*;
use crate::ir::{CopyOp, ElementwiseOp, Op, Partition, SyncOp, Type, ValueData};

type Marks = BTreeSet<u32>;

#[derive(Default)]
struct Marking {
    /// The states before the statements that are visited; each is visited once.
    seen: BTreeMap<Number, Marks>,
    crossed: u32,
}

impl Flow for Marking {
    type State = Marks;

    fn cross(&mut self, stmt: &Stmt, marks: &mut Marks) {
        self.crossed += 1;
        if let StmtKind::Op { op: Op::Copy(CopyOp::Wait(mark)), .. } = &stmt.kind {
            marks.insert(*mark);
        } else if let StmtKind::Op { op: Op::Sync(SyncOp::Block), .. } = &stmt.kind {
            marks.clear();
        }
    }

    fn join(&mut self, into: &mut Marks, other: &Marks) {
        into.extend(other);
    }

    fn visit(&mut self, _: &Stmt, marks: &Marks, number: Number) {
        assert_eq!(self.seen.insert(number, marks.clone()), None, "statement {number} again");
    }
}

fn value() -> Value {
    Value::from_raw(RawIdx::from(0))
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, loc: Loc::KERNEL }
}

fn mark(mark: u32) -> Stmt {
    stmt(StmtKind::Op { op: Op::Copy(CopyOp::Wait(mark)), args: Vec::new(), result: None })
}

fn clear() -> Stmt {
    stmt(StmtKind::Op { op: Op::Sync(SyncOp::Block), args: Vec::new(), result: None })
}

fn region(stmts: Vec<Stmt>, end: Terminator) -> Region {
    Region { args: vec![value()], stmts, end }
}

fn yields(stmts: Vec<Stmt>) -> Region {
    region(stmts, Terminator::Yield(Vec::new()))
}

fn branch(then: Region, otherwise: Region) -> Stmt {
    stmt(StmtKind::If { condition: value(), then, otherwise, results: Vec::new() })
}

fn counted(stmts: Vec<Stmt>) -> Stmt {
    let body = region(stmts, Terminator::Continue(0, Vec::new()));
    let (inits, results) = (Vec::new(), Vec::new());
    stmt(StmtKind::For { from: value(), to: value(), step: value(), inits, body, results })
}

fn endless(stmts: Vec<Stmt>) -> Stmt {
    let body = Region { args: Vec::new(), stmts, end: Terminator::Continue(0, Vec::new()) };
    stmt(StmtKind::Loop { inits: Vec::new(), body, results: Vec::new() })
}

/// What holds before each statement that is visited.
type Seen = Vec<(Number, Vec<u32>)>;

/// What holds at the end, and before each statement.
fn solved(stmts: Vec<Stmt>) -> (Option<Vec<u32>>, Seen) {
    let body = region(stmts, Terminator::Return);
    let mut marking = Marking::default();
    let end = solve(&mut marking, &body, &Marks::new()).expect("marks settle");
    let list = |marks: Marks| marks.into_iter().collect::<Vec<u32>>();
    (end.map(list), marking.seen.into_iter().map(|(at, marks)| (at, list(marks))).collect())
}

#[test]
fn branches_join_and_what_leaves_does_not() {
    let (end, seen) = solved(vec![branch(yields(vec![mark(1)]), yields(vec![mark(2)])), mark(3)]);
    assert_eq!(end, Some(vec![1, 2, 3]));
    assert_eq!(seen[3], (3, vec![1, 2]));
    let returned = region(vec![mark(1)], Terminator::Return);
    let (end, seen) = solved(vec![branch(returned, yields(Vec::new())), clear(), mark(3)]);
    // A kernel ends on either way.
    assert_eq!(end, Some(vec![1, 3]));
    assert_eq!(seen[2], (2, vec![]));
}

#[test]
fn an_iteration_begins_with_what_the_one_before_leaves() {
    let (end, seen) = solved(vec![mark(1), counted(vec![mark(2), clear(), mark(3)]), mark(4)]);
    // Before the first statement of the body: 1 in the first iteration, 3 in all others.
    assert_eq!(seen[2], (2, vec![1, 3]));
    assert_eq!(seen[4], (4, vec![]));
    // There may have been no iteration.
    assert_eq!(seen[5], (5, vec![1, 3]));
    assert_eq!(end, Some(vec![1, 3, 4]));
}

#[test]
fn a_loop_without_an_end_of_its_own_is_left_by_its_breaks() {
    let broken = region(vec![mark(2)], Terminator::Break(0, Vec::new()));
    let (end, seen) = solved(vec![
        mark(1),
        endless(vec![branch(broken, yields(vec![clear()])), mark(3)]),
        mark(4),
    ]);
    assert_eq!(seen[5], (5, vec![]));
    assert_eq!(end, Some(vec![1, 2, 3, 4]));
    // Without one nothing comes after.
    let (end, seen) = solved(vec![endless(vec![mark(1)]), mark(2)]);
    assert_eq!((end, seen.len()), (None, 2));
}

#[test]
fn jumps_reach_the_loops_further_out() {
    let outer = region(vec![mark(2)], Terminator::Continue(1, Vec::new()));
    let (_, seen) = solved(vec![
        counted(vec![
            mark(1),
            clear(),
            counted(vec![branch(outer, yields(vec![mark(3)])), clear()]),
        ]),
        mark(9),
    ]);
    // The outer loop is continued with 2; its inner one ends with nothing.
    assert_eq!(seen[1], (1, vec![2]));
    assert_eq!(seen[8], (8, vec![2]));
}

#[test]
fn parts_begin_with_what_holds_in_front_of_them() {
    let partition =
        Partition { warps: 1, registers: None, body: yields(vec![mark(3)]), loc: Loc::KERNEL };
    let (default, partitions) = (yields(vec![mark(2)]), vec![partition]);
    let specialize = StmtKind::Specialize { default, partitions, results: Vec::new() };
    let (end, seen) = solved(vec![mark(1), stmt(specialize), mark(4)]);
    assert_eq!(seen[3], (3, vec![1]));
    assert_eq!(end, Some(vec![1, 2, 3, 4]));
}

#[test]
fn work_grows_no_faster_than_the_square_of_nested_loops() {
    let crossed = |depth: u32| {
        let nested = (0..depth).fold(Vec::new(), |inner, at| {
            let mut stmts = vec![mark(2 * at)];
            stmts.extend((at > 0).then(|| counted(inner)));
            stmts.push(mark(2 * at + 1));
            stmts
        });
        let mut marking = Marking::default();
        let body = region(nested, Terminator::Return);
        solve(&mut marking, &body, &Marks::new()).expect("marks settle");
        assert_eq!(u32::try_from(marking.seen.len()), Ok(3 * depth - 1));
        marking.crossed
    };
    // Twice as deep is four times the work: every loop sees what each loop around it adds.
    let (shallow, deep) = (crossed(24), crossed(48));
    assert!(deep <= 5 * shallow, "{shallow} and {deep}");
}

/// A mark gives the next one, so that a loop over them from the last to the first adds one a look.
struct Chain;

impl Flow for Chain {
    type State = Marks;

    fn cross(&mut self, stmt: &Stmt, marks: &mut Marks) {
        if let StmtKind::Op { op: Op::Copy(CopyOp::Wait(mark)), .. } = &stmt.kind
            && marks.contains(mark)
        {
            marks.insert(mark + 1);
        }
    }

    fn join(&mut self, into: &mut Marks, other: &Marks) {
        into.extend(other);
    }
}

#[test]
fn a_state_that_grows_by_one_thing_a_look_settles() {
    let length = 1100;
    let body = yields(vec![counted((0..length).rev().map(mark).collect())]);
    let end = solve(&mut Chain, &body, &Marks::from([0])).expect("marks settle");
    assert_eq!(end.map(|marks| marks.len()), Some(length as usize + 1));
}

/// Counts statements: a loop never settles.
#[derive(Default)]
struct Counting {
    visited: bool,
}

impl Flow for Counting {
    type State = u64;

    fn cross(&mut self, _: &Stmt, count: &mut u64) {
        *count += 1;
    }

    fn join(&mut self, into: &mut u64, other: &u64) {
        *into = (*into).max(*other);
    }

    fn visit(&mut self, _: &Stmt, _: &u64, _: Number) {
        self.visited = true;
    }
}

#[test]
fn of_a_state_that_never_settles_nothing_is_known() {
    let mut counting = Counting::default();
    let body = yields(vec![mark(1), counted(vec![counted(vec![mark(2)])])]);
    assert_eq!(solve(&mut counting, &body, &0), Err(Unsettled { at: Loc::KERNEL }));
    assert!(!counting.visited);
    // Without a loop it is.
    assert_eq!(solve(&mut counting, &yields(vec![mark(1), mark(2)]), &0), Ok(Some(2)));
}

#[test]
fn facts_of_values_follow_what_loops_carry() {
    let mut values: Arena<ValueData> = Arena::new();
    let mut new = || values.alloc(ValueData { ty: Type::Error, loc: Loc::KERNEL });
    let [source, first, second, ends, condition] = [(); 5].map(|()| new());
    let [begin, other, result, last] = [(); 4].map(|()| new());
    // Carried values change places: what the first begins with comes to the second, and after the loop to both results.
    let body = Region {
        args: vec![condition, first, second],
        stmts: Vec::new(),
        end: Terminator::Continue(0, vec![second, first]),
    };
    let (inits, results) = (vec![source, begin], vec![ends, result]);
    let looped = stmt(StmtKind::For { from: other, to: other, step: other, inits, body, results });
    let op = |args, result| {
        stmt(StmtKind::Op {
            op: Op::Elementwise(ElementwiseOp::Select),
            args,
            result: Some(result),
        })
    };
    let body =
        region(vec![op(Vec::new(), source), looped, op(vec![result], last)], Terminator::Return);
    let spread = spread(
        &body,
        &mut |stmt| (stmt.kind.results() == [source]).then(|| (vec![source], 7)),
        &mut |stmt| stmt.kind.results(),
    );
    let marked: Vec<Value> = spread.iter().map(|(value, _)| value).collect();
    assert_eq!(marked, [source, first, second, ends, result, last]);
}
