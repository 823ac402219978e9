//! Buffers that a pipelined loop fills under a condition: an iteration uses them only if it has filled them.
//!
//! ```text
//! if live { copy_async ..  -> s }; staged; if live { .. use of s .. }
//! ```
//!
//! Conditions are compared by what they compute: two that apply the same operations to the same values are one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use la_arena::ArenaMap;

use super::ahead::Ahead;
use crate::{
    diag::{Code, Diagnostic},
    elaborate::Written,
    ir::{
        Binary, Compare, Dtype, Elem, ElementwiseOp, Kernel, MemoryOp, Op, Region, Shared,
        SourceOp, Stmt, StmtKind, Type, Unary, Value,
    },
    loc::Loc,
};

/// Conditions that are told apart at one place; if there are more, a use counts as one of an empty buffer.
const MOST_CONDITIONS: usize = 8;

const EXAMPLE: &str = "for k in pipeline(range(0, n, 1), 3) {\n    \
         if load(mask.ptr() + k) != 0 {\n        \
             copy_async(a.tile([0, k * 64], [64, 64]), s);\n        \
             acc = dot(s.load(), b, acc); // in the same branch\n    \
         }\n\
     }";

/// A condition by its number, and whether it holds.
type Literal = (u32, bool);

/// The conditions of a place.
type Path = BTreeSet<Literal>;

/// A copy, or a store of the whole buffer, under conditions.
struct Fill {
    root: Shared,
    path: Path,
    /// Where the innermost condition is written.
    condition: Option<Loc>,
}

/// The first use, in the rest of an iteration, of a buffer that the iteration may not have filled.
pub(super) fn check(
    (kernel, written): (&Kernel, &Written),
    ahead: &Ahead<'_>,
    (head, rest): (&[Stmt], &[Stmt]),
) -> Option<Diagnostic> {
    let mut conditional = false;
    for stmt in head {
        conditional |= matches!(stmt.kind, StmtKind::If { .. }) && stmt.copies_ahead();
    }
    if !conditional {
        return None;
    }
    let mut uses = Uses {
        kernel,
        written,
        ahead,
        numbers: Numbers::of(kernel),
        fills: Vec::new(),
        roots: BTreeSet::new(),
        problem: None,
    };
    uses.fill(head, &Path::new(), None);
    uses.region(rest, &Path::new());
    uses.problem
}

struct Uses<'a> {
    kernel: &'a Kernel,
    written: &'a Written,
    ahead: &'a Ahead<'a>,
    numbers: Numbers,
    fills: Vec<Fill>,
    /// The buffers that copies fill.
    roots: BTreeSet<Shared>,
    problem: Option<Diagnostic>,
}

impl Uses<'_> {
    fn root(&self, window: Value) -> Option<Shared> {
        self.kernel.ty(window).shared().map(|ty| ty.root)
    }

    /// Numbers what a statement computes.
    fn number(&mut self, stmt: &Stmt) {
        if let StmtKind::Op { op, args, result: Some(result) } = &stmt.kind
            && (op.is_pure() || stmt.loads() && self.ahead.is_stable(stmt))
        {
            self.numbers.made(self.kernel, op, args, *result);
        } else if let StmtKind::Reduce { args, axis, combine, results } = &stmt.kind {
            self.numbers.reduced(args, *axis, combine, results);
        }
    }

    /// The path into one side of a branch.
    fn side(&mut self, path: &Path, condition: Value, holds: bool) -> Path {
        let (number, sense) = self.numbers.literal(condition);
        let mut path = path.clone();
        path.insert((number, sense == holds));
        path
    }

    /// What the copies of the head fill.
    fn fill(&mut self, stmts: &[Stmt], path: &Path, condition: Option<Loc>) {
        for stmt in stmts {
            self.number(stmt);
            if let Some(root) = stmt.fills_ahead().and_then(|window| self.root(window)) {
                self.roots.insert(root);
                self.fills.push(Fill { root, path: path.clone(), condition });
            }
            let StmtKind::If { condition: on, then, otherwise, .. } = &stmt.kind else { continue };
            let at = Some(self.written.place(stmt.loc, *on));
            for (side, holds) in [(then, true), (otherwise, false)] {
                let path = self.side(path, *on, holds);
                self.fill(&side.stmts, &path, at);
            }
        }
    }

    /// The uses in statements that run on a path.
    fn region(&mut self, stmts: &[Stmt], path: &Path) {
        for stmt in stmts {
            self.number(stmt);
            self.uses(stmt, path);
            if let StmtKind::If { condition, then, otherwise, .. } = &stmt.kind {
                for (side, holds) in [(then, true), (otherwise, false)] {
                    let path = self.side(path, *condition, holds);
                    self.region(&side.stmts, &path);
                }
                continue;
            }
            // A loop may run no iteration: what it stores counts inside it only.
            let known = self.fills.len();
            for inner in stmt.kind.regions() {
                self.region(&inner.stmts, path);
            }
            self.fills.truncate(known);
        }
    }

    fn uses(&mut self, stmt: &Stmt, path: &Path) {
        let StmtKind::Op { op, args, .. } = &stmt.kind else { return };
        if matches!(op, Op::Window(_)) {
            return;
        }
        let used: Vec<(Value, Shared)> = args
            .iter()
            .filter_map(|&arg| Some((arg, self.root(arg)?)))
            .filter(|(_, root)| self.roots.contains(root))
            .collect();
        for (window, root) in used {
            if matches!(op, Op::Memory(MemoryOp::StoreShared)) {
                self.fills.push(Fill { root, path: path.clone(), condition: None });
                continue;
            }
            let fills: Vec<&Fill> = self.fills.iter().filter(|fill| fill.root == root).collect();
            let paths: Vec<&Path> = fills.iter().map(|fill| &fill.path).collect();
            if self.problem.is_none() && !self.numbers.cover(&paths, path.clone(), 0) {
                let condition = fills.iter().find_map(|fill| fill.condition);
                self.problem = Some(self.refusal(stmt, window, condition));
            }
        }
    }

    fn refusal(&self, stmt: &Stmt, window: Value, condition: Option<Loc>) -> Diagnostic {
        let args = stmt.kind.operands();
        let places = self.kernel.operands.get(&stmt.loc).into_iter().flatten();
        let named = args.iter().zip(places).find(|(arg, _)| **arg == window).map(|(_, at)| *at);
        let headline = "shared memory is used in iterations that copy nothing to it";
        Diagnostic::new(Code::Pipeline, named.unwrap_or(stmt.loc), headline)
            .compare("", "a use under the condition of the copy", "a use in other iterations as well")
            .place_if(condition, "the copy has this condition")
            .why("each stage has its own instance of the allocation; if an iteration copies nothing, its instance holds what an iteration some stages before has copied, or nothing")
            .help(EXAMPLE)
            .exemplified()
    }
}

/// What values are, by numbers: those with one number are the same in every iteration.
#[derive(Default)]
struct Numbers {
    of: ArenaMap<Value, u32>,
    known: BTreeMap<(String, Vec<u32>), u32>,
    /// The conditions that are another one, or not another one.
    same: BTreeMap<u32, Literal>,
    /// The conditions that hold if two others do.
    both: BTreeMap<u32, [Literal; 2]>,
    next: u32,
}

impl Numbers {
    /// Those of the constants of a kernel.
    fn of(kernel: &Kernel) -> Self {
        let mut numbers = Numbers::default();
        kernel.body.each_op(&mut |op, args, result, _| {
            if let (Op::Source(SourceOp::Const(_)), Some(result)) = (op, result) {
                numbers.made(kernel, op, args, result);
            }
        });
        numbers
    }

    fn value(&mut self, value: Value) -> u32 {
        if let Some(&number) = self.of.get(value) {
            return number;
        }
        self.next += 1;
        self.of.insert(value, self.next);
        self.next
    }

    /// The condition that a value is.
    fn literal(&mut self, value: Value) -> Literal {
        let number = self.value(value);
        self.same.get(&number).copied().unwrap_or((number, true))
    }

    fn keyed(&mut self, key: (String, Vec<u32>)) -> u32 {
        let next = self.next + 1;
        let number = *self.known.entry(key).or_insert(next);
        self.next = self.next.max(number);
        number
    }

    fn made(&mut self, kernel: &Kernel, op: &Op, args: &[Value], result: Value) {
        if self.of.contains_idx(result) {
            return;
        }
        let ty = kernel.ty(result);
        let of: Vec<u32> = args.iter().map(|&arg| self.value(arg)).collect();
        let number = self.keyed((format!("{op:?} {ty:?}"), of.clone()));
        self.of.insert(result, number);
        let Op::Elementwise(op) = op else { return };
        if *ty != Type::scalar(Dtype::Bool) {
            return;
        }
        match op {
            ElementwiseOp::Unary(Unary::Not) => {
                let (of, sense) = self.literal(args[0]);
                self.same.insert(number, (of, !sense));
            }
            ElementwiseOp::Binary(op @ (Binary::And | Binary::Or)) => {
                let is_and = *op == Binary::And;
                // `a || b` is not `!a && !b`.
                let sides = [0, 1].map(|side| {
                    let (of, sense) = self.literal(args[side]);
                    (of, sense == is_and)
                });
                let both = self.keyed((
                    "both".to_owned(),
                    sides.iter().flat_map(|(of, sense)| [*of, u32::from(*sense)]).collect(),
                ));
                self.both.insert(both, sides);
                self.same.insert(number, (both, is_and));
            }
            ElementwiseOp::Compare(compare) => {
                // Of two floats, neither may be less than the other one or equal to it.
                if matches!(kernel.ty(args[0]).elem(), Some(Elem::Number(dtype)) if dtype.is_float())
                {
                    return;
                }
                let (name, [left, right], sense) = match compare {
                    Compare::Eq => ("eq", [of[0].min(of[1]), of[0].max(of[1])], true),
                    Compare::Ne => ("eq", [of[0].min(of[1]), of[0].max(of[1])], false),
                    Compare::Lt => ("lt", [of[0], of[1]], true),
                    Compare::Ge => ("lt", [of[0], of[1]], false),
                    Compare::Gt => ("lt", [of[1], of[0]], true),
                    Compare::Le => ("lt", [of[1], of[0]], false),
                };
                let compared = self.keyed((name.to_owned(), vec![left, right]));
                self.same.insert(number, (compared, sense));
            }
            ElementwiseOp::Unary(_)
            | ElementwiseOp::Binary(_)
            | ElementwiseOp::Select
            | ElementwiseOp::Fma
            | ElementwiseOp::FunnelShift(_)
            | ElementwiseOp::Bitcast
            | ElementwiseOp::Cast => {}
        }
    }

    /// A reduction by a function of operations alone.
    fn reduced(&mut self, args: &[Value], axis: u32, combine: &Region, results: &[Value]) {
        let mut names: BTreeMap<Value, String> = BTreeMap::new();
        names.extend(combine.args.iter().enumerate().map(|(at, &arg)| (arg, format!("a{at}"))));
        let mut text = format!("reduce {axis}");
        for (at, stmt) in combine.stmts.iter().enumerate() {
            let StmtKind::Op { op, args, result } = &stmt.kind else { return };
            let of: Vec<String> = args.iter().map(|&arg| self.name(&names, arg)).collect();
            _ = write!(text, " {op:?} {of:?}");
            names.extend(result.map(|result| (result, format!("r{at}"))));
        }
        let ends = combine.end.values();
        let ends: Vec<String> = ends.iter().map(|&end| self.name(&names, end)).collect();
        let of: Vec<u32> = args.iter().map(|&arg| self.value(arg)).collect();
        for (at, &result) in results.iter().enumerate() {
            let number = self.keyed((format!("{text} {ends:?} {at}"), of.clone()));
            self.of.insert(result, number);
        }
    }

    /// What a value is called in the text of a function: one from outside by its number.
    fn name(&mut self, names: &BTreeMap<Value, String>, value: Value) -> String {
        names.get(&value).cloned().unwrap_or_else(|| format!("v{}", self.value(value)))
    }

    /// Adds to a path what follows from its conditions. None if they exclude each other.
    fn close(&self, mut path: Path) -> Option<Path> {
        loop {
            let before = path.len();
            for (&both, sides) in &self.both {
                let not = |(of, sense): Literal| (of, !sense);
                if path.contains(&(both, true)) {
                    path.extend(sides);
                }
                if sides.iter().all(|side| path.contains(side)) {
                    path.insert((both, true));
                }
                if sides.iter().any(|side| path.contains(&not(*side))) {
                    path.insert((both, false));
                }
                for (one, other) in [(0, 1), (1, 0)] {
                    if path.contains(&(both, false)) && path.contains(&sides[one]) {
                        path.insert(not(sides[other]));
                    }
                }
            }
            if path.iter().any(|&(of, sense)| path.contains(&(of, !sense))) {
                return None;
            }
            if path.len() == before {
                return Some(path);
            }
        }
    }

    /// Whether one of the fills takes place whenever a path is taken.
    fn cover(&self, fills: &[&Path], path: Path, depth: usize) -> bool {
        let Some(path) = self.close(path) else { return true };
        if fills.iter().any(|fill| fill.is_subset(&path)) {
            return true;
        }
        let open = fills
            .iter()
            .flat_map(|fill| fill.iter())
            .find(|(of, sense)| !path.contains(&(*of, *sense)) && !path.contains(&(*of, !sense)));
        let Some(&(of, _)) = open.filter(|_| depth < MOST_CONDITIONS) else { return false };
        [true, false].into_iter().all(|sense| {
            let mut path = path.clone();
            path.insert((of, sense));
            self.cover(fills, path, depth + 1)
        })
    }
}
