//! The launches that are explored: numbers for the arguments.
//!
//! How often a loop runs mostly depends on the extents of tensors and on scalars. For these a launch has numbers that let rings of buffers
//! go around: multiples of what the kernel divides them by, and of the steps of its loops.

use std::collections::{BTreeMap, BTreeSet};

use la_arena::ArenaMap;

use super::code::{Applied, Code, What};
use crate::ir::{
    Binary, Const, Dtype, ElementwiseOp, Fact, Kernel, Op, ParamKind, SourceOp, Value, WindowOp,
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
}

/// Some of the numbers that a launch gives, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sources(u64);

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
    /// A loop goes around once for this much of it, the least of all loops.
    least: Option<i128>,
    /// The same of what counts without being a loop's bound: it is compared with what changes.
    against: Option<i128>,
    /// The largest constant that it is compared with.
    compared: i128,
    /// A multiple of all of them.
    all: Option<i128>,
}

/// The largest number that is divided by to choose an argument.
const MOST: i128 = 1 << 16;

/// What has more tiles than this is taken for no ring of buffers.
const LONGEST: u32 = 8;

impl Divisors {
    /// It has to be a multiple of this.
    fn divides(&mut self, divisor: i128) {
        if !(2..=MOST).contains(&divisor) {
            return;
        }
        let all = self.all.unwrap_or(1);
        let (mut a, mut b) = (all, divisor);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        self.all = Some((all / a * divisor).min(MOST));
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

/// The number, among launches, of the one in which extents and bounds are 0.
pub(super) const EMPTY: usize = 3;

/// One launch.
pub(super) struct Launch {
    of: BTreeMap<Source, i128>,
    /// How many clusters `try_cancel` takes over.
    pub(super) answers: i128,
}

impl Launch {
    pub(super) fn number(&self, source: Source) -> Option<i128> {
        self.of.get(&source).copied()
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
                divisors.divides(i128::from(of));
            }
        }
        let barriers = kernel.barriers.iter().filter_map(|(_, data)| data.ring);
        let longest = barriers.max().unwrap_or(1).max(found.ring);
        let rounds = i128::from(longest);
        let mut numbers = Numbers { of: found.of, rounds, truths: Sources::NONE };
        let truths = numbers.scalars().filter(|&(param, _)| is_bool(kernel, param));
        numbers.truths = truths.fold(Sources::NONE, |all, (_, bit)| all.join(bit));
        numbers
    }

    /// The place of a number among the bits of [`Sources`]; those after the last bit share it.
    pub(super) fn bit(&self, source: Source) -> Sources {
        let place = self.of.keys().position(|&other| other == source);
        Sources(place.map_or(0, |place| 1 << place.min(63)))
    }

    /// The scalars: arguments that the user may want to have certain values.
    pub(super) fn scalars(&self) -> impl Iterator<Item = (u32, Sources)> {
        self.of.keys().filter_map(|&source| match source {
            Source::Scalar(param) => Some((param, self.bit(source))),
            Source::Dim(..) | Source::Grid(_) => None,
        })
    }

    /// The scalars that are `bool`.
    pub(super) fn truths(&self) -> Sources {
        self.truths
    }

    /// Launches: two in which rings of buffers go around, one of a single tile, and one of nothing.
    pub(super) fn launches(&self, kernel: &Kernel) -> Vec<Launch> {
        let with = |index: usize| {
            let of = self.of.iter().map(|(&source, divisors)| {
                let number = match source {
                    Source::Grid(axis) => {
                        let cluster = i128::from(kernel.cluster[axis as usize]);
                        let more = if index < 2 { divisors.compared / cluster } else { 0 };
                        cluster * (1 + more)
                    }
                    Source::Scalar(param) if is_bool(kernel, param) => i128::from(index == 1),
                    Source::Scalar(_) | Source::Dim(..) if divisors.begins && !divisors.ends => 0,
                    Source::Scalar(_) | Source::Dim(..) => {
                        let all = divisors.all.unwrap_or(1);
                        let turns = (self.rounds + 1) * divisors.unit();
                        let enough = turns.max(divisors.compared + 1);
                        let around = all * ((enough + all - 1) / all).max(1);
                        match index {
                            0 => around,
                            1 => around + all,
                            EMPTY => 0,
                            _ => all,
                        }
                    }
                };
                (source, number)
            });
            Launch { of: of.collect(), answers: if index == 0 { 2 } else { 1 } }
        };
        let count = if self.of.is_empty() { 1 } else { EMPTY + 1 };
        (0..=EMPTY).take(count).map(with).collect()
    }
}

/// The most launches with other numbers that are tried for a hazard.
const MOST_OPINIONS: usize = 256;

impl Numbers {
    /// The same launch with other numbers for the bounds of loops, as often as they may go together: what loops over one tensor may be
    /// meant to run as often as what loops over another one, or twice as often.
    pub(super) fn opinions(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        bounds: Sources,
    ) -> Vec<Launch> {
        let bounding = self.of.iter().filter(|&(&source, _)| {
            let counts = match source {
                Source::Scalar(param) => !is_bool(kernel, param),
                Source::Dim(..) => true,
                Source::Grid(_) => false,
            };
            let bit = self.bit(source);
            counts && bounds.without(bit) != bounds
        });
        let bounding: Vec<(Source, &Divisors, i128)> = bounding
            .filter_map(|(&source, divisors)| Some((source, divisors, launch.number(source)?)))
            .collect();
        if bounding.len() < 2 {
            return Vec::new();
        }
        let turns: Vec<i128> =
            bounding.iter().map(|(_, divisors, number)| number / divisors.unit()).collect();
        let mut all = vec![launch.of.clone()];
        for &(source, divisors, least) in &bounding {
            let numbers = turns
                .iter()
                .flat_map(|turns| [1, 2, 4].map(|times| divisors.unit() * turns * times));
            let numbers: BTreeSet<i128> = numbers
                .filter(|number| *number >= least && number % divisors.all.unwrap_or(1) == 0)
                .collect();
            let with = all.iter().flat_map(|of| {
                numbers.iter().map(move |&number| {
                    let mut of = of.clone();
                    of.insert(source, number);
                    of
                })
            });
            all = with.take(MOST_OPINIONS).collect();
        }
        all.into_iter().map(|of| Launch { of, answers: launch.answers }).collect()
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
                    let step = self.constants.get(*step).map_or(1, |step| step.abs());
                    for (bound, ends) in [(from, false), (to, true)] {
                        for (source, scale) in self.from.get(*bound).cloned().unwrap_or_default() {
                            let divisors = self.of.entry(source).or_default();
                            divisors.divides(scale.saturating_mul(step));
                            divisors.begins |= !ends;
                            divisors.ends |= ends;
                            if ends {
                                divisors.counts(scale.saturating_mul(step));
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

    fn compute(&mut self, Applied { op, args, result }: &Applied<'_>) {
        let Some(result) = *result else { return };
        let source = match op {
            Op::Source(SourceOp::ParamScalar(param)) => Some(Source::Scalar(*param)),
            Op::Source(SourceOp::ParamDim(param, axis)) => Some(Source::Dim(*param, *axis)),
            Op::Source(SourceOp::NumBlocks(axis)) => Some(Source::Grid(*axis)),
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
            | Op::Assert(_) => None,
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
            ElementwiseOp::Binary(_)
            | ElementwiseOp::Unary(_)
            | ElementwiseOp::Select
            | ElementwiseOp::Fma
            | ElementwiseOp::Cast => {
                let from = args.iter().filter_map(|&arg| self.from.get(arg));
                let mut from: Vec<(Source, i128)> = from.flatten().copied().collect();
                from.sort_unstable();
                from.dedup();
                from
            }
        };
        if !from.is_empty() {
            self.from.insert(result, from);
        }
    }

    /// A value is compared with another one: a constant, or what counts the turns of a loop.
    fn compare(&mut self, value: Value, other: Value) {
        let constant = self.constants.get(other).copied();
        for (source, scale) in self.from.get(value).cloned().unwrap_or_default() {
            let divisors = self.of.entry(source).or_default();
            match constant {
                Some(number @ 0..=MOST) => {
                    divisors.compared = divisors.compared.max(number.saturating_mul(scale));
                }
                Some(_) => {}
                None => divisors.against = divisors.against.or(Some(scale)),
            }
        }
    }
}
