//! The launches that are explored: numbers for the arguments.
//!
//! How often a loop runs mostly depends on the extents of tensors and on scalars. For these a launch has numbers that let rings of buffers
//! go around: multiples of what the kernel divides them by, and of the steps of its loops.

use std::collections::{BTreeMap, BTreeSet};

use la_arena::ArenaMap;

use super::{
    Reason,
    code::{Applied, Code, What},
};
use crate::ir::{
    Binary, ClusterOp, Const, Dtype, ElementwiseOp, Fact, Kernel, Op, ParamKind, SourceOp, SyncOp,
    Value, WindowOp,
};

/// A number that a launch gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// A scalar parameter.
    Scalar(u32),
    /// An extent of a tensor.
    Dim(u32, u32),
    /// The extent of the grid on an axis.
    Grid(u32),
    /// The coordinate of the cluster in the grid, on an axis.
    Cluster(u32),
}

/// Some of the numbers that a launch gives, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sources(u128);

impl Sources {
    pub(super) const NONE: Sources = Sources(0);

    pub(super) fn join(self, other: Sources) -> Sources {
        Sources(self.0 | other.0)
    }

    pub(super) fn without(self, other: Sources) -> Sources {
        Sources(self.0 & !other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The numbers that the explored launches give.
pub(super) struct Numbers {
    /// Each with what it is divided by.
    of: BTreeMap<Source, Divisors>,
    /// The length of the longest ring.
    rounds: i128,
    /// The scalars that are `bool`.
    truths: Sources,
}

/// What a number is divided by, and compared with.
#[derive(Clone, Copy, Default)]
struct Divisors {
    /// A loop begins there.
    begins: bool,
    /// A loop ends there.
    ends: bool,
    /// A loop steps by it.
    steps: bool,
    /// A loop goes around once for this much of it, the least of all loops.
    least: Option<i128>,
    /// The same of what counts without being a loop's bound: it is compared with what changes.
    against: Option<i128>,
    /// The largest constant that it is compared with, or that loops are shorter by.
    compared: i128,
    /// A multiple of all of them.
    all: Option<i128>,
    /// What the kernel says that it is a multiple of.
    multiple: Option<i128>,
}

/// The largest number that is divided by to choose an argument.
const MOST: i128 = 1 << 16;

/// What has more tiles than this is taken for no ring of buffers.
const LONGEST: u32 = 8;

impl Divisors {
    /// It has to be a multiple of this.
    fn divides(&mut self, divisor: i128) {
        if (2..=MOST).contains(&divisor) {
            self.all = Some(common_multiple(self.all.unwrap_or(1), divisor));
        }
    }

    fn is_multiple(&mut self, of: i128) {
        self.divides(of);
        self.multiple = Some(common_multiple(self.multiple.unwrap_or(1), of.clamp(1, MOST)));
    }

    fn is_compared(&mut self, with: i128) {
        self.compared = self.compared.max(with.min(MOST));
    }

    /// For how much of it a loop goes around once.
    fn unit(&self) -> i128 {
        self.least.or(self.against).unwrap_or(1)
    }

    /// A loop goes around once for this much of it.
    fn counts(&mut self, unit: i128) {
        if (1..=MOST).contains(&unit) {
            self.least = Some(self.least.map_or(unit, |least| least.min(unit)));
        }
    }
}

fn common_multiple(one: i128, other: i128) -> i128 {
    let (mut a, mut b) = (one, other);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (one / a * other).min(MOST)
}

/// The number, among launches, of the one in which extents and bounds are 0.
pub(super) const EMPTY: usize = 3;

/// That of the one in which numbers are as different as they may be, and no multiples of anything that they need not be.
pub(super) const APART: usize = 4;

/// One launch.
#[derive(Clone)]
pub(super) struct Launch {
    of: BTreeMap<Source, i128>,
    /// How many clusters `try_cancel` takes over.
    pub(super) answers: i128,
}

impl Launch {
    pub(super) fn number(&self, source: Source) -> Option<i128> {
        self.of.get(&source).copied()
    }

    fn with(&self, source: Source, number: i128) -> Launch {
        let mut launch = self.clone();
        launch.of.insert(source, number);
        launch
    }
}

impl Numbers {
    pub(super) fn of(kernel: &Kernel, code: &Code<'_>) -> Self {
        let mut found = Found {
            kernel,
            ring: 1,
            of: BTreeMap::new(),
            from: ArenaMap::default(),
            constants: ArenaMap::default(),
        };
        found.code(code);
        for fact in &kernel.facts {
            let (source, of) = match *fact {
                Fact::DimMultiple { param, axis, of } => (Source::Dim(param, axis), of),
                Fact::ScalarMultiple { param, of } => (Source::Scalar(param), of),
                Fact::PointerAligned { .. }
                | Fact::StrideEquals { .. }
                | Fact::StrideMultiple { .. } => continue,
            };
            if let Some(divisors) = found.of.get_mut(&source) {
                divisors.is_multiple(i128::from(of));
            }
        }
        let barriers = kernel.barriers.iter().filter_map(|(_, data)| data.ring);
        let longest = barriers.max().unwrap_or(1).max(found.ring);
        let rounds = i128::from(longest);
        let mut numbers = Numbers { of: found.of, rounds, truths: Sources::NONE };
        let truths = numbers.of.keys().filter(|source| match source {
            Source::Scalar(param) => is_bool(kernel, *param),
            Source::Dim(..) | Source::Grid(_) | Source::Cluster(_) => false,
        });
        numbers.truths = truths.fold(Sources::NONE, |all, &source| all.join(numbers.bit(source)));
        numbers
    }

    /// The place of a number among the bits of [`Sources`]; those after the last bit share it.
    pub(super) fn bit(&self, source: Source) -> Sources {
        let place = self.of.keys().position(|&other| other == source);
        Sources(place.map_or(0, |place| 1 << place.min(127)))
    }

    /// The arguments and extents, as what a verdict may depend on.
    pub(super) fn arguments(&self) -> impl Iterator<Item = (Reason, Sources)> {
        self.of.keys().filter_map(|&source| match source {
            Source::Scalar(param) => Some((Reason::Argument(param), self.bit(source))),
            Source::Dim(param, _) => Some((Reason::Extent(param), self.bit(source))),
            Source::Grid(_) | Source::Cluster(_) => None,
        })
    }

    /// The scalars that are `bool`.
    pub(super) fn truths(&self) -> Sources {
        self.truths
    }

    /// Launches: two in which rings of buffers go around, one of a single tile, one of nothing, and one with numbers that do not go together.
    pub(super) fn launches(&self, kernel: &Kernel) -> Vec<Launch> {
        let with = |index: usize| {
            let of = (0..).zip(&self.of).map(|(place, (&source, divisors))| {
                (source, self.first_number(kernel, (index, place), source, divisors))
            });
            Launch { of: of.collect(), answers: if index == 0 { 2 } else { 1 } }
        };
        let count = if self.of.is_empty() { 1 } else { APART + 1 };
        (0..=APART).take(count).map(with).collect()
    }

    fn first_number(
        &self,
        kernel: &Kernel,
        (index, place): (usize, i128),
        source: Source,
        divisors: &Divisors,
    ) -> i128 {
        let dtype = match source {
            Source::Cluster(_) => return i128::from(index == APART),
            Source::Grid(axis) => {
                let cluster = i128::from(kernel.cluster[axis as usize]);
                let more = if index < 2 { divisors.compared / cluster } else { 0 };
                return cluster * (1 + more + i128::from(index == APART));
            }
            Source::Scalar(param) => match kernel.params[param as usize].kind {
                ParamKind::Scalar(Dtype::Bool) => return i128::from(index == 1),
                ParamKind::Scalar(dtype) => Some(dtype),
                ParamKind::Tensor { .. } | ParamKind::Pointer(_) => None,
            },
            Source::Dim(..) => None,
        };
        let all = divisors.all.unwrap_or(1);
        if divisors.begins && !divisors.ends {
            return if divisors.steps { all } else { 0 };
        }
        let enough = (self.rounds + 1) * divisors.unit() + divisors.compared;
        let around = all * ((enough + all - 1) / all).max(1);
        let number = match index {
            0 => around,
            1 => around + all,
            EMPTY if divisors.steps => all,
            EMPTY => 0,
            // Twice as far apart as what is added to be no multiple may count.
            APART => around + 2 * all * (place % LONGEST_APART) + divisors.multiple.unwrap_or(1),
            _ => all,
        };
        number.min(dtype.map_or(i128::MAX, largest))
    }
}

/// So many numbers of a launch are told apart.
const LONGEST_APART: i128 = 4;

/// The largest number of an integer type.
fn largest(dtype: Dtype) -> i128 {
    let bits = 8 * dtype.bytes() - u32::from(dtype.is_signed());
    (1 << bits) - 1
}

/// The most launches with other numbers that are tried for a hazard.
const MOST_OPINIONS: usize = 1024;

/// By how much more often, and by how many iterations more, one loop may run than another one.
const TIMES: [i128; 11] = [1, 2, 3, 4, 6, 8, 9, 12, 16, 24, 32];
const MORE: [i128; 3] = [1, 2, 4];

/// The same where more than two numbers bound loops.
const FEW_TIMES: [i128; 3] = [1, 2, 4];

impl Numbers {
    /// The same launch with other numbers for the bounds of loops, as often as they may go together: what loops over one tensor may be
    /// meant to run as often as what loops over another one, or twice as often, or at least some times.
    pub(super) fn opinions(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        bounds: Sources,
    ) -> Vec<Launch> {
        let bounding = self.of.iter().filter(|&(&source, divisors)| {
            let counts = match source {
                Source::Scalar(param) => !is_bool(kernel, param),
                Source::Dim(..) => true,
                Source::Grid(_) => divisors.ends,
                Source::Cluster(_) => false,
            };
            let bit = self.bit(source);
            counts && bounds.without(bit) != bounds
        });
        let bounding: Vec<Bounding<'_>> = bounding
            .filter_map(|(&source, divisors)| {
                let least = launch.number(source)?;
                Some(Bounding { source, divisors, least })
            })
            .collect();
        let iterations: Vec<i128> =
            bounding.iter().map(|one| one.least / one.divisors.unit()).collect();
        let numbers = |one: &Bounding<'_>, times: &[i128], more: &[i128]| {
            one.numbers(&iterations, times, more)
        };
        let with = |all: &[Launch], source: Source, numbers: &BTreeSet<i128>| -> Vec<Launch> {
            let each = all
                .iter()
                .flat_map(|launch| numbers.iter().map(move |&number| launch.with(source, number)));
            each.take(MOST_OPINIONS).collect()
        };
        let start = [launch.clone()];
        let mut all = Vec::new();
        for (place, one) in bounding.iter().enumerate() {
            let first = with(&start, one.source, &numbers(one, &TIMES, &MORE));
            for other in &bounding[place + 1..] {
                all.extend(with(&first, other.source, &numbers(other, &TIMES, &MORE)));
            }
            all.extend(first);
        }
        if bounding.len() > 2 {
            let together = bounding.iter().fold(start.to_vec(), |all, one| {
                with(&all, one.source, &numbers(one, &FEW_TIMES, &[]))
            });
            all.extend(together);
        }
        all
    }
}

/// A number that bounds loops.
struct Bounding<'a> {
    source: Source,
    divisors: &'a Divisors,
    /// What it is at least.
    least: i128,
}

impl Bounding<'_> {
    /// What else it may be, for loops of so many iterations.
    fn numbers(&self, iterations: &[i128], times: &[i128], more: &[i128]) -> BTreeSet<i128> {
        let all = self.divisors.all.unwrap_or(1);
        let counts = iterations.iter().flat_map(|&iterations| {
            let times = times.iter().map(move |times| iterations * times);
            times.chain(more.iter().map(move |more| iterations + more))
        });
        counts
            .map(|iterations| self.divisors.unit() * iterations)
            .filter(|&number| number >= self.least && number % all == 0)
            .collect()
    }
}

fn is_bool(kernel: &Kernel, param: u32) -> bool {
    kernel.params[param as usize].kind == ParamKind::Scalar(Dtype::Bool)
}

/// What the numbers of a launch are divided by.
struct Found<'k> {
    kernel: &'k Kernel,
    /// The length of the longest ring of windows.
    ring: u32,
    of: BTreeMap<Source, Divisors>,
    /// The numbers that a value is computed from, and by what they are divided in it.
    from: ArenaMap<Value, Vec<(Source, i128)>>,
    constants: ArenaMap<Value, i128>,
}

impl Found<'_> {
    fn code(&mut self, code: &Code<'_>) {
        for step in &code.steps {
            match &step.what {
                What::Compute(applied) => self.compute(applied),
                What::If { sides, .. } => sides.iter().for_each(|side| self.code(side)),
                What::For { bounds: [from, to, step], body, .. } => {
                    for (source, _) in self.from.get(*step).cloned().unwrap_or_default() {
                        self.of.entry(source).or_default().steps = true;
                    }
                    let first = self.constants.get(*from).copied().unwrap_or(0).max(0);
                    let step = self.constants.get(*step).map_or(1, |step| step.abs());
                    for (bound, ends) in [(from, false), (to, true)] {
                        for (source, scale) in self.from.get(*bound).cloned().unwrap_or_default() {
                            let divisors = self.of.entry(source).or_default();
                            divisors.divides(scale.saturating_mul(step));
                            divisors.begins |= !ends;
                            divisors.ends |= ends;
                            if ends {
                                divisors.counts(scale.saturating_mul(step));
                                divisors.is_compared(first.saturating_mul(scale));
                            }
                        }
                    }
                    self.code(body);
                }
                What::Loop { body, .. } => self.code(body),
                What::Parts { parts, .. } => parts.iter().for_each(|part| self.code(part)),
                What::Unknown(_) | What::Act(..) | What::Assert(_) => {}
            }
        }
    }

    /// The numbers of a value, each as often as that value divided by this; none if that is not known.
    fn divided(&mut self, value: Value, by: Option<i128>) -> Vec<(Source, i128)> {
        let of = self.from.get(value).cloned().unwrap_or_default();
        let by = by.filter(|by| *by > 0).unwrap_or(1);
        let divided = of.into_iter().map(|(source, scale)| {
            let scale = scale.saturating_mul(by);
            self.of.entry(source).or_default().divides(scale);
            (source, scale)
        });
        divided.collect()
    }

    /// The numbers that any of these values is computed from.
    fn joined(&self, args: &[Value]) -> Vec<(Source, i128)> {
        let from = args.iter().filter_map(|&arg| self.from.get(arg));
        let mut from: Vec<(Source, i128)> = from.flatten().copied().collect();
        from.sort_unstable();
        from.dedup();
        from
    }

    fn compute(&mut self, Applied { op, args, result }: &Applied<'_>) {
        let Some(result) = *result else { return };
        let source = match op {
            Op::Source(SourceOp::ParamScalar(param)) => Some(Source::Scalar(*param)),
            Op::Source(SourceOp::ParamDim(param, axis)) => Some(Source::Dim(*param, *axis)),
            Op::Source(SourceOp::NumBlocks(axis)) => Some(Source::Grid(*axis)),
            Op::Source(SourceOp::BlockId(axis))
            | Op::Sync(SyncOp::Cluster(ClusterOp::Id(axis))) => Some(Source::Cluster(*axis)),
            Op::Source(SourceOp::Const(Const::Int(value))) => {
                self.constants.insert(result, *value);
                None
            }
            Op::Source(_)
            | Op::Tile(_)
            | Op::Elementwise(_)
            | Op::Memory(_)
            | Op::Window(_)
            | Op::Copy(_)
            | Op::Sync(_)
            | Op::Product(_)
            | Op::TensorMemory(_)
            | Op::Assert(_)
            | Op::Report(_) => None,
        };
        if let Some(source) = source {
            self.of.entry(source).or_default();
            self.from.insert(result, vec![(source, 1)]);
            return;
        }
        if let Op::Window(WindowOp::Index) = op {
            let len = self.kernel.ty(args[0]).shape().first().copied();
            self.ring = self.ring.max(len.filter(|&len| len <= LONGEST).unwrap_or(1));
        }
        let Op::Elementwise(op) = op else { return };
        let constant = |value: Value| self.constants.get(value).copied();
        let from = match op {
            ElementwiseOp::Binary(Binary::Div) => self.divided(args[0], constant(args[1])),
            ElementwiseOp::Binary(Binary::Shr) => {
                let shift = constant(args[1]).and_then(|shift| u32::try_from(shift).ok());
                self.divided(args[0], shift.and_then(|shift| 1i128.checked_shl(shift)))
            }
            ElementwiseOp::Compare(_) => {
                for (value, other) in [(args[0], args[1]), (args[1], args[0])] {
                    self.compare(value, other);
                }
                Vec::new()
            }
            ElementwiseOp::Binary(Binary::Rem) => {
                self.divided(args[0], constant(args[1]));
                self.joined(args)
            }
            ElementwiseOp::Binary(Binary::Sub) => {
                if let Some(less) = constant(args[1]).filter(|less| *less > 0) {
                    for (source, scale) in self.from.get(args[0]).cloned().unwrap_or_default() {
                        let divisors = self.of.entry(source).or_default();
                        divisors.is_compared(less.saturating_mul(scale));
                    }
                }
                self.joined(args)
            }
            ElementwiseOp::Binary(_)
            | ElementwiseOp::Unary(_)
            | ElementwiseOp::Select
            | ElementwiseOp::Fma
            | ElementwiseOp::FunnelShift(_)
            | ElementwiseOp::Bitcast
            | ElementwiseOp::Cast => self.joined(args),
        };
        if !from.is_empty() {
            self.from.insert(result, from);
        }
    }

    /// A value is compared with another one: a constant, or what counts the iterations of a loop.
    fn compare(&mut self, value: Value, other: Value) {
        let constant = self.constants.get(other).copied();
        for (source, scale) in self.from.get(value).cloned().unwrap_or_default() {
            let divisors = self.of.entry(source).or_default();
            match constant {
                Some(number @ 0..=MOST) => divisors.is_compared(number.saturating_mul(scale)),
                Some(_) => {}
                None => divisors.against = divisors.against.or(Some(scale.min(MOST))),
            }
        }
    }
}
