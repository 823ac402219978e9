//! Between which numbers an integer is, whenever the kernel computes it; of a tile of integers, all of its elements.
//!
//! Arithmetic that may wrap gives any number of its type. What a branch on a comparison says of a value holds within the branch:
//!
//! ```text
//! %3 = add %slot, 1           1 ..= 4, if %slot is 0 ..= 3
//! %4 = eq %3, 4
//! if %4 { yield 0 } else { yield %3 }      0 ..= 3: within `else` %3 is not 4
//! ```
//!
//! Ranges of values that loops carry are found by iteration. A range that grows does so up to the next of a few numbers, so that the
//! iteration ends soon: the extents of what is indexed, and the limits of the type.

use std::{collections::BTreeMap, rc::Rc};

use la_arena::ArenaMap;

use super::{
    Binary, BitFunction, ClusterOp, Compare, Const, Dtype, Elem, ElementwiseOp, Kernel, Op, Region,
    SourceOp, Stmt, StmtKind, SyncOp, Terminator, TileOp, Type, Unary, Value,
    flow::{self, Flow, Passing},
};

/// The numbers from `least` to `most`, both included. There are none if `least` is the larger one: no path reaches the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The smallest.
    pub least: i128,
    /// The largest.
    pub most: i128,
}

/// A condition of the branches around a place, and whether it holds there.
pub type Fork = (Value, bool);

/// The ranges of the integers of a kernel.
#[derive(Debug, Default)]
pub struct Ranges<'k> {
    of: ArenaMap<Value, Range>,
    /// How scalars and tiles are computed.
    computed: ArenaMap<Value, (&'k ElementwiseOp, &'k [Value])>,
}

impl Range {
    fn new(least: i128, most: i128) -> Option<Range> {
        (least <= most).then_some(Range { least, most })
    }

    /// All numbers of an element type, with 1 for `true`; none if it is not one of integers.
    pub fn of_type(dtype: Dtype) -> Option<Range> {
        if dtype == Dtype::Bool {
            return Some(Range { least: 0, most: 1 });
        }
        let bits = 8 * dtype.bytes();
        let (least, most) = if dtype.is_signed() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        };
        dtype.is_int().then_some(Range { least, most })
    }

    fn one(value: i128) -> Range {
        Range { least: value, most: value }
    }

    /// Whether all numbers of another range are in this one.
    pub fn holds(self, other: Range) -> bool {
        other.is_empty() || self.least <= other.least && other.most <= self.most
    }

    fn is_empty(self) -> bool {
        self.least > self.most
    }

    fn join(self, other: Range) -> Range {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        Range { least: self.least.min(other.least), most: self.most.max(other.most) }
    }

    fn is_natural(self) -> bool {
        self.least >= 0
    }

    /// The range whose ends are among these results of the ends of two others.
    fn of_ends(self, other: Range, of: impl Fn(i128, i128) -> Option<i128>) -> Option<Range> {
        let ends = [
            of(self.least, other.least)?,
            of(self.least, other.most)?,
            of(self.most, other.least)?,
            of(self.most, other.most)?,
        ];
        Range::new(*ends.iter().min()?, *ends.iter().max()?)
    }

    /// What is left of the range if a comparison with a number of another one holds.
    fn where_holds(self, compare: Compare, other: Range) -> Range {
        let Range { least, most } = self;
        match compare {
            Compare::Lt => Range { least, most: most.min(other.most - 1) },
            Compare::Le => Range { least, most: most.min(other.most) },
            Compare::Gt => Range { least: least.max(other.least + 1), most },
            Compare::Ge => Range { least: least.max(other.least), most },
            Compare::Eq => Range { least: least.max(other.least), most: most.min(other.most) },
            Compare::Ne if other.least != other.most => self,
            Compare::Ne => Range {
                least: least + i128::from(other.least == least),
                most: most - i128::from(other.most == most),
            },
        }
    }
}

/// All numbers of the type of a scalar or of elements; none for what is not an integer.
fn all_of(ty: &Type) -> Option<Range> {
    let (Type::Scalar(Elem::Number(dtype)) | Type::Tile(Elem::Number(dtype), _)) = ty else {
        return None;
    };
    Range::of_type(*dtype)
}

/// The same comparison with its operands swapped.
fn swapped(compare: Compare) -> Compare {
    match compare {
        Compare::Lt => Compare::Gt,
        Compare::Le => Compare::Ge,
        Compare::Gt => Compare::Lt,
        Compare::Ge => Compare::Le,
        Compare::Eq => Compare::Eq,
        Compare::Ne => Compare::Ne,
    }
}

/// The comparison that holds where another one does not.
fn opposite(compare: Compare) -> Compare {
    match compare {
        Compare::Lt => Compare::Ge,
        Compare::Le => Compare::Gt,
        Compare::Gt => Compare::Le,
        Compare::Ge => Compare::Lt,
        Compare::Eq => Compare::Ne,
        Compare::Ne => Compare::Eq,
    }
}

impl<'k> Ranges<'k> {
    /// Those of a kernel. `extents` are the numbers that its indices are compared with.
    pub fn of(kernel: &'k Kernel, extents: &[u32]) -> Ranges<'k> {
        let mut stops: Vec<i128> = extents.iter().map(|&extent| i128::from(extent) - 1).collect();
        stops.push(0);
        stops.sort_unstable();
        stops.dedup();
        let mut analysis = Analysis {
            kernel,
            stops,
            ranges: Ranges::default(),
            around: Around::default(),
            continued: ArenaMap::default(),
            carried: ArenaMap::default(),
        };
        analysis.note(&kernel.body, &mut Vec::new(), &mut Vec::new());
        flow::follow(&mut analysis, &kernel.body);
        analysis.ranges
    }

    /// The range of a value at a place within these branches; none of what is not an integer.
    pub fn at(&self, kernel: &Kernel, value: Value, forks: &[Fork]) -> Option<Range> {
        let range = self.of.get(value).copied().or_else(|| all_of(kernel.ty(value)))?;
        let narrow = |range, fork: &Fork| self.narrowed(kernel, (value, range), *fork);
        Some(forks.iter().fold(range, narrow))
    }

    /// What a value is the sum of, if it is one.
    pub fn sum_of(&self, value: Value) -> Option<[Value; 2]> {
        let &(op, args) = self.computed.get(value)?;
        if *op == ElementwiseOp::Binary(Binary::Add) { args.try_into().ok() } else { None }
    }

    /// What is left of the range of a value if a condition holds, or does not.
    fn narrowed(
        &self,
        kernel: &Kernel,
        (value, range): (Value, Range),
        (condition, holds): Fork,
    ) -> Range {
        let Some(&(op, args)) = self.computed.get(condition) else { return range };
        let both = |holds| {
            let each = |range, arg: &Value| self.narrowed(kernel, (value, range), (*arg, holds));
            args.iter().fold(range, each)
        };
        match op {
            ElementwiseOp::Compare(compare) => {
                let compare = if holds { *compare } else { opposite(*compare) };
                let left = if args[0] == value { Some((compare, args[1])) } else { None };
                let right = (args[1] == value).then(|| (swapped(compare), args[0]));
                let Some((compare, other)) = left.or(right) else { return range };
                let other = self.of.get(other).copied().or_else(|| all_of(kernel.ty(other)));
                other.map_or(range, |other| range.where_holds(compare, other))
            }
            ElementwiseOp::Unary(Unary::Not) => both(!holds),
            ElementwiseOp::Binary(Binary::And) if holds => both(true),
            ElementwiseOp::Binary(Binary::Or) if !holds => both(false),
            ElementwiseOp::Unary(_)
            | ElementwiseOp::Binary(_)
            | ElementwiseOp::Select
            | ElementwiseOp::Fma
            | ElementwiseOp::FunnelShift(_)
            | ElementwiseOp::Bitcast
            | ElementwiseOp::Cast => range,
        }
    }
}

/// The branches around the places where values are made and where regions end.
#[derive(Default)]
struct Around {
    made: ArenaMap<Value, Rc<[Fork]>>,
    /// By the values that the end of the region passes: regions that pass the same ones share what is around both.
    ends: BTreeMap<Vec<Value>, Vec<Fork>>,
}

/// The counted loop that carries a value.
#[derive(Clone, Copy)]
struct Carried {
    init: Value,
    /// The most iterations.
    most: i128,
}

struct Analysis<'k> {
    kernel: &'k Kernel,
    /// Where ranges that grow stop first.
    stops: Vec<i128>,
    ranges: Ranges<'k>,
    around: Around,
    /// What the ends of iterations pass to a value that a loop carries.
    continued: ArenaMap<Value, Vec<Value>>,
    carried: ArenaMap<Value, Carried>,
}

impl<'k> Analysis<'k> {
    /// Notes the branches around all places of a region, how scalars and tiles are computed, and what iterations of loops pass on. `loops` are the
    /// carried values of the loops around it.
    fn note(&mut self, region: &'k Region, forks: &mut Vec<Fork>, loops: &mut Vec<&'k [Value]>) {
        for stmt in &region.stmts {
            if let StmtKind::Op { op, args, result: Some(result) } = &stmt.kind {
                if let Op::Elementwise(op) = op {
                    self.ranges.computed.insert(*result, (op, args));
                }
                if !forks.is_empty() {
                    self.around.made.insert(*result, Rc::from(&forks[..]));
                }
            } else if let StmtKind::If { condition, then, otherwise, .. } = &stmt.kind {
                for (side, holds) in [(then, true), (otherwise, false)] {
                    forks.push((*condition, holds));
                    self.note(side, forks, loops);
                    forks.pop();
                }
            } else if let StmtKind::For { body, .. } = &stmt.kind {
                loops.push(&body.args[1..]);
                self.note(body, forks, loops);
                loops.pop();
            } else if let StmtKind::Loop { body, .. } = &stmt.kind {
                loops.push(&body.args);
                self.note(body, forks, loops);
                loops.pop();
            } else {
                stmt.kind.regions().into_iter().for_each(|inner| self.note(inner, forks, loops));
            }
        }
        if let Terminator::Continue(depth, values) = &region.end {
            let carried = loops[loops.len() - 1 - *depth as usize];
            for (&carried, &value) in carried.iter().zip(values) {
                self.continued.entry(carried).or_default().push(value);
            }
        }
        let here = || forks.clone();
        let shared = |known: &mut Vec<Fork>| {
            let same = known.iter().zip(&*forks).take_while(|(a, b)| a == b).count();
            known.truncate(same);
        };
        let end = self.around.ends.entry(region.end.values().to_vec());
        end.and_modify(shared).or_insert_with(here);
    }

    /// The range of a value that a counted loop carries, if iterations only add constants to it: how far it gets follows from their
    /// number.
    fn counted(&self, value: Value) -> Option<Range> {
        let Carried { init, most } = *self.carried.get(value)?;
        let mut fastest = 0;
        for &next in self.continued.get(value)? {
            let (op, args) = match self.ranges.computed.get(next) {
                _ if next == value => continue,
                Some(&(ElementwiseOp::Binary(op), [left, right])) => (*op, [*left, *right]),
                Some(_) | None => return None,
            };
            let other = args.iter().position(|arg| *arg == value).map(|at| args[1 - at])?;
            let added = self.range(other, &[]).filter(|added| added.least == added.most)?;
            if op != Binary::Add || added.least < 0 {
                return None;
            }
            fastest = fastest.max(added.least);
        }
        let init = self.range(init, &[])?;
        let range = Range::new(init.least, init.most + fastest * most)?;
        all_of(self.kernel.ty(value)).filter(|all| all.holds(range)).map(|_| range)
    }

    /// The range of an operand. One that no path reaches is taken for any other.
    fn range(&self, value: Value, forks: &[Fork]) -> Option<Range> {
        let all = all_of(self.kernel.ty(value));
        self.ranges.at(self.kernel, value, forks).filter(|range| !range.is_empty()).or(all)
    }

    /// The range of the result of an operation.
    fn op(&self, op: &Op, args: &[Value], result: Value) -> Option<Range> {
        let all = all_of(self.kernel.ty(result))?;
        let forks = self.around.made.get(result).map_or(&[][..], |forks| forks);
        let exact = match op {
            Op::Source(SourceOp::Arange(low)) => {
                let count = self.kernel.ty(result).shape().iter().product::<u32>();
                let low = i128::from(*low);
                Range::new(low, low + i128::from(count) - 1)
            }
            Op::Source(op) => source(op),
            Op::Elementwise(op) => self.elementwise(op, args, forks),
            Op::Sync(SyncOp::Cluster(op)) => self.position(*op),
            Op::Tile(TileOp::Histogram) => {
                let elements = self.kernel.ty(args[0]).shape().iter().product::<u32>();
                Range::new(0, i128::from(elements))
            }
            // An index outside gives zero.
            Op::Tile(TileOp::Gather(_)) => {
                self.range(args[0], forks).map(|range| range.join(Range::one(0)))
            }
            // The result has elements of the operands.
            Op::Tile(
                TileOp::Splat
                | TileOp::Broadcast
                | TileOp::Expand(_)
                | TileOp::Reshape
                | TileOp::Permute(_)
                | TileOp::Flip(_)
                | TileOp::Sort(_)
                | TileOp::Join
                | TileOp::Split(_)
                | TileOp::ToLayout(_)
                | TileOp::AssertLayout(_),
            ) => {
                let ranges = args.iter().map(|&arg| self.range(arg, forks));
                ranges.reduce(|all, one| Some(all?.join(one?))).flatten()
            }
            Op::Memory(_)
            | Op::Window(_)
            | Op::Copy(_)
            | Op::Sync(_)
            | Op::Product(_)
            | Op::TensorMemory(_)
            | Op::Assert(_)
            | Op::Report(_) => None,
        };
        // What does not fit wraps.
        Some(exact.filter(|exact| all.holds(*exact)).unwrap_or(all))
    }

    fn position(&self, op: ClusterOp) -> Option<Range> {
        let cluster = self.kernel.cluster;
        match op {
            ClusterOp::Rank => Range::new(0, i128::from(cluster.iter().product::<u32>()) - 1),
            ClusterOp::BlockId(axis) => Range::new(0, i128::from(cluster[axis as usize]) - 1),
            ClusterOp::Id(_) | ClusterOp::CanceledBlockId(_) => Range::new(0, i128::from(i32::MAX)),
            ClusterOp::Sync
            | ClusterOp::Arrive
            | ClusterOp::Wait
            | ClusterOp::TryCancel
            | ClusterOp::IsCanceled => None,
        }
    }

    fn elementwise(&self, op: &ElementwiseOp, args: &[Value], forks: &[Fork]) -> Option<Range> {
        let of = |at: usize| self.range(args[at], forks);
        match op {
            ElementwiseOp::Unary(Unary::Neg) => of(0).and_then(|a| Range::new(-a.most, -a.least)),
            // The first number of the type becomes the last, and so on.
            ElementwiseOp::Unary(Unary::Not) => {
                let all = all_of(self.kernel.ty(args[0]))?;
                let not = |a: i128| all.least + all.most - a;
                of(0).and_then(|a| Range::new(not(a.most), not(a.least)))
            }
            ElementwiseOp::Unary(Unary::Abs) => of(0).and_then(|a| {
                let most = a.most.max(-a.least);
                Range::new(a.least.max(-a.most).max(0), most)
            }),
            ElementwiseOp::Binary(op) => binary(*op, of(0)?, of(1)?),
            ElementwiseOp::Select => {
                let side = |at: usize, holds| {
                    let forks = [forks, &[(args[0], holds)]].concat();
                    self.ranges.at(self.kernel, args[at], &forks)
                };
                Some(side(1, true)?.join(side(2, false)?))
            }
            ElementwiseOp::Cast => of(0),
            // A word has at most 64 bits to count.
            ElementwiseOp::Unary(Unary::Bits(
                BitFunction::CountOnes | BitFunction::LeadingZeros,
            )) => Range::new(0, 64),
            ElementwiseOp::Unary(_)
            | ElementwiseOp::Compare(_)
            | ElementwiseOp::Fma
            | ElementwiseOp::FunnelShift(_)
            | ElementwiseOp::Bitcast => None,
        }
    }

    /// A range that takes in another one, and stops growing where one of its ends is next to a stop.
    fn grown(&self, old: Range, new: Range, all: Range) -> Range {
        let to = old.join(new);
        let mut grown = old;
        if to.least < old.least {
            let stop = self.stops.iter().rev().find(|stop| **stop <= to.least);
            grown.least = stop.copied().unwrap_or(all.least).max(all.least);
        }
        if to.most > old.most {
            let stop = self.stops.iter().find(|stop| **stop >= to.most);
            grown.most = stop.copied().unwrap_or(all.most).min(all.most);
        }
        grown
    }
}

/// The range of a value of the launch, or one that the text holds.
fn source(op: &SourceOp) -> Option<Range> {
    match op {
        SourceOp::Const(Const::Int(value)) => Some(Range::one(*value)),
        SourceOp::Const(Const::Bool(value)) => Some(Range::one(i128::from(*value))),
        SourceOp::ParamDim(..) | SourceOp::BlockId(_) | SourceOp::NumBlocks(_) => {
            Range::new(0, i128::from(i32::MAX))
        }
        SourceOp::Const(Const::Float(_))
        | SourceOp::ParamPtr(_)
        | SourceOp::TensorPtr(_)
        | SourceOp::ParamStride(..)
        | SourceOp::ParamScalar(_)
        | SourceOp::Arange(_) => None,
    }
}

/// The smallest number of ones, `0b111..`, that is at least as large.
fn ones(most: i128) -> i128 {
    (1 << (i128::BITS - most.leading_zeros())) - 1
}

/// The range of a result, as if numbers had no end.
fn binary(op: Binary, a: Range, b: Range) -> Option<Range> {
    let natural = a.is_natural() && b.is_natural();
    match op {
        Binary::Add => Range::new(a.least + b.least, a.most + b.most),
        Binary::Sub => Range::new(a.least - b.most, a.most - b.least),
        Binary::Mul => a.of_ends(b, i128::checked_mul),
        Binary::Div if b.least > 0 => a.of_ends(b, i128::checked_div),
        Binary::Rem if b.least > 0 => {
            let most = b.most - 1;
            Range::new(a.least.clamp(-most, 0), a.most.clamp(0, most))
        }
        // Of a number of so many bits, those that a mask has.
        Binary::And if a.is_natural() && b.least == b.most => Range::new(0, ones(a.most) & b.most),
        Binary::And if a.is_natural() || b.is_natural() => {
            let most =
                [a, b].into_iter().filter(|one| one.is_natural()).map(|one| one.most).min()?;
            Range::new(0, most)
        }
        Binary::Or | Binary::Xor if natural => Range::new(0, ones(a.most | b.most)),
        // A shift by the width and more counts modulo the width, which is at least 8.
        Binary::Shl if natural && b.most < 8 => Range::new(a.least << b.least, a.most << b.most),
        Binary::Shr if natural && b.most < 8 => Range::new(a.least >> b.most, a.most >> b.least),
        Binary::Shr if natural => Range::new(0, a.most),
        Binary::Min => Range::new(a.least.min(b.least), a.most.min(b.most)),
        Binary::Max => Range::new(a.least.max(b.least), a.most.max(b.most)),
        Binary::Div
        | Binary::Rem
        | Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::Shl
        | Binary::Shr
        | Binary::MulHi
        | Binary::Copysign
        | Binary::Powf => None,
    }
}

impl Flow for Analysis<'_> {
    type State = ();

    const OF_VALUES: bool = true;

    fn cross(&mut self, stmt: &Stmt, (): &mut ()) {
        if let StmtKind::Op { op, args, result: Some(result) } = &stmt.kind {
            if let Some(range) = self.op(op, args, *result) {
                self.ranges.of.insert(*result, range);
            }
        } else if let StmtKind::For { from, to, step, inits, body, .. } = &stmt.kind {
            let counter = body.args[0];
            let of = |value| self.range(value, &[]);
            let (Some(from), Some(to), Some(step)) = (of(*from), of(*to), of(*step)) else {
                return;
            };
            // The counter never wraps: a loop ends where its next step would.
            let range = if step.least >= 0 {
                Range::new(from.least, to.most - 1)
            } else if step.most < 0 {
                Range::new(to.least + 1, from.most)
            } else {
                None
            };
            // A step of 0 makes one iteration.
            let least = if step.most > 0 { step.least.max(1) } else { -step.most };
            let distance = if step.most > 0 { to.most - from.least } else { from.most - to.least };
            if range.is_some() && least > 0 {
                let most = (distance + least - 1) / least;
                let carried = inits.iter().zip(&body.args[1..]);
                let carried = carried.map(|(&init, &to)| (to, Carried { init, most }));
                self.carried.extend(carried);
            }
            // A loop without iterations has no counter.
            self.ranges.of.insert(counter, range.unwrap_or_else(|| from.join(to)));
        }
    }

    fn join(&mut self, (): &mut (), (): &()) {}

    fn pass(&mut self, passing: Passing, from: &[Value], to: &[Value], (): &mut ()) -> bool {
        let forks = match passing {
            Passing::Yield | Passing::Continue | Passing::Break => {
                self.around.ends.get(from).cloned().unwrap_or_default()
            }
            Passing::Begin | Passing::Finish => Vec::new(),
        };
        let mut changed = false;
        for (&from, &to) in from.iter().zip(to) {
            let new = self.ranges.at(self.kernel, from, &forks).filter(|new| !new.is_empty());
            let (Some(all), Some(new)) = (all_of(self.kernel.ty(to)), new) else { continue };
            let old = self.ranges.of.get(to).copied();
            if passing == Passing::Continue && old.is_some() && old == self.counted(to) {
                continue;
            }
            if old.is_none_or(|old| !old.holds(new)) {
                changed = true;
                let range = old.map_or(new, |old| self.grown(old, new, all));
                let range = self.counted(to).unwrap_or(range);
                self.ranges.of.insert(to, range);
            }
        }
        changed
    }
}
