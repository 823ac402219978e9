//! A cluster of blocks that runs what matters of a kernel, each part of each block by itself, as far as barriers let it.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Finding, Reason,
    barriers::All,
    clock::{Clock, Components, Half, Of},
    code::{Applied, Code, Step, What},
    launch::{Launch, Numbers, Sources},
    memory::Memory,
    values::{Barrier, Datum, Place, Thing},
};
use crate::{
    ir::{CtaGroup, Kernel, Terminator, Value},
    loc::Loc,
};

/// The most statements of one launch that are followed.
const MOST_STEPS: u32 = 20_000;

/// Why a launch is not followed further.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    /// What comes next is known only when the kernel runs.
    Unknown(Loc, Reason),
    /// An assertion of the kernel refuses the launch.
    Refused,
    /// A hazard was found.
    Found,
}

/// What was seen of a launch besides findings.
#[derive(Default)]
pub(super) struct Seen {
    /// What is wrong.
    pub(super) finding: Option<Finding>,
    /// All parts were followed to their ends.
    pub(super) ended: bool,
    /// Why not finding anything proves nothing, the first reason.
    pub(super) doubt: Option<(Loc, Reason)>,
    /// The operations with effects that took place.
    pub(super) reached: BTreeSet<usize>,
    /// Where numbers of the launch decide on anything, and which.
    pub(super) decided: BTreeMap<Loc, Sources>,
    /// Those that bound loops.
    pub(super) bounds: Sources,
    /// The most iterations of a loop that such numbers bound.
    pub(super) iterations: u32,
    /// How many statements were followed.
    pub(super) steps: u32,
}

/// A part of a block: warps that run the same.
pub(super) struct Crew<'c> {
    /// Its block, and its number there.
    pub(super) who: [u32; 2],
    pub(super) warps: u32,
    pub(super) state: State,
    frames: Vec<Frame<'c>>,
    data: Vec<Datum>,
    /// What the thread that starts asynchronous operations knows, and what all others do.
    pub(super) clocks: [Clock; 2],
    /// What the parts have started, as numbers of [`Of`] are counted: groups of `cp.async`, products, stores, operations of `tcgen05`.
    pub(super) copies: u32,
    pub(super) products: u32,
    pub(super) stores: u32,
    pub(super) on_cores: u32,
    /// The meeting of the cluster at which it has arrived, and not waited.
    pub(super) cluster: Option<u32>,
}

/// What a part does.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// It has not begun.
    Idle,
    Runs,
    Waits(Loc, Waiting),
    Ended,
}

/// What for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waiting {
    /// A phase of a barrier of this parity; a test has a result.
    Phase { barrier: Barrier, parity: i128, result: Option<Value> },
    /// A meeting after this one at a named barrier.
    Named { number: usize, met: u32 },
    /// The same of the cluster.
    Cluster { met: u32 },
    /// The end of the other parts.
    Parts,
}

struct Frame<'c> {
    code: &'c Code<'c>,
    next: usize,
    around: Around<'c>,
}

enum Around<'c> {
    /// A whole part.
    Part,
    /// A side of a branch.
    Side(&'c [Value]),
    /// The default part.
    Default(&'c [Value]),
    For {
        at: Datum,
        bound: i128,
        step: i128,
        results: &'c [Value],
    },
    Loop {
        results: &'c [Value],
        iterations: u32,
    },
}

pub(super) struct Machine<'c> {
    pub(super) kernel: &'c Kernel,
    pub(super) numbers: &'c Numbers,
    pub(super) launch: &'c Launch,
    pub(super) components: Components,
    pub(super) crews: Vec<Crew<'c>>,
    pub(super) parts: u32,
    pub(super) blocks: u32,
    pub(super) barriers: All,
    pub(super) memory: Memory,
    /// The answers of `try_cancel` by where they are, and how many there were.
    pub(super) answers: BTreeMap<(u32, u32, u64), i128>,
    pub(super) asked: i128,
    pub(super) pairs: bool,
    pub(super) seen: Seen,
    /// The part that runs has just announced something to others.
    pub(super) told: bool,
}

/// Which part goes on first where several can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turns {
    /// The default part of the first block.
    First,
    /// The last partition of the last block.
    Last,
}

impl Turns {
    pub(super) fn other(self) -> Self {
        match self {
            Turns::First => Turns::Last,
            Turns::Last => Turns::First,
        }
    }
}

/// The components of the clocks of a kernel.
pub(super) fn components(kernel: &Kernel) -> Components {
    let partitions = kernel.specialized().map_or(0, |found| found.partitions.len());
    let parts = 1 + u32::try_from(partitions).unwrap_or(0);
    Components::of(kernel, parts, kernel.cluster.iter().product())
}

/// Runs one launch, and gives what was seen of it.
pub(super) fn run<'c>(
    kernel: &'c Kernel,
    code: &'c Code<'c>,
    numbers: &'c Numbers,
    launch: &'c Launch,
    turns: Turns,
) -> Seen {
    let blocks = kernel.cluster.iter().product();
    let others: Vec<u32> = kernel
        .specialized()
        .map(|found| found.partitions.iter().map(|one| one.warps).collect())
        .unwrap_or_default();
    let parts = 1 + u32::try_from(others.len()).unwrap_or(0);
    let components = components(kernel);
    let mut crews = Vec::new();
    for block in 0..blocks {
        for (part, warps) in (0..).zip(std::iter::once(kernel.warps).chain(others.iter().copied()))
        {
            let who = [block, part];
            let clock = |half| {
                let mut clock = components.start();
                clock.step(components.part(who, Of::Threads(half)));
                clock
            };
            let frame = Frame { code, next: 0, around: Around::Part };
            crews.push(Crew {
                who,
                warps,
                state: if part == 0 { State::Runs } else { State::Idle },
                frames: if part == 0 { vec![frame] } else { Vec::new() },
                data: vec![Datum::UNKNOWN; kernel.values.len()],
                clocks: Half::BOTH.map(clock),
                copies: 0,
                products: 0,
                stores: 0,
                on_cores: 0,
                cluster: None,
            });
        }
    }
    let mut machine = Machine {
        kernel,
        numbers,
        launch,
        components,
        crews,
        parts,
        blocks,
        barriers: All::of(kernel, components, blocks),
        memory: Memory::default(),
        answers: BTreeMap::new(),
        asked: 0,
        pairs: kernel.cta_group() == CtaGroup::Pair,
        seen: Seen::default(),
        told: false,
    };
    match machine.all(turns) {
        Ok(()) => machine.seen.ended = true,
        Err(Stop::Refused | Stop::Found) => {}
        Err(Stop::Unknown(at, reason)) => machine.doubt(at, reason),
    }
    machine.seen
}

/// The place of a value among the data of a part.
fn place(value: Value) -> usize {
    value.into_raw().into_u32() as usize
}

impl<'c> Machine<'c> {
    /// Runs all parts to their ends.
    fn all(&mut self, turns: Turns) -> Result<(), Stop> {
        let count = self.crews.len();
        loop {
            let mut moved = false;
            for turn in 0..count {
                let crew = match turns {
                    Turns::First => turn,
                    Turns::Last => count - 1 - turn,
                };
                moved |= self.advance(crew)?;
            }
            if self.crews.iter().all(|crew| matches!(crew.state, State::Ended | State::Idle)) {
                return self.ended();
            }
            if !moved {
                return self.stuck();
            }
        }
    }

    pub(super) fn doubt(&mut self, at: Loc, reason: Reason) {
        self.seen.doubt.get_or_insert((at, reason));
    }

    /// Lets a part go on as far as it can; whether it has moved.
    fn advance(&mut self, crew: usize) -> Result<bool, Stop> {
        let mut moved = false;
        loop {
            match self.crews[crew].state {
                State::Idle | State::Ended => return Ok(moved),
                State::Waits(at, waiting) => {
                    if !self.leaves(crew, at, waiting) {
                        return Ok(moved);
                    }
                    self.crews[crew].state = State::Runs;
                }
                State::Runs => self.step(crew)?,
            }
            moved = true;
            if std::mem::take(&mut self.told) {
                // Whom it told something goes on before it does more.
                return Ok(true);
            }
        }
    }

    pub(super) fn get(&self, crew: usize, value: Value) -> Datum {
        self.crews[crew].data.get(place(value)).copied().unwrap_or(Datum::UNKNOWN)
    }

    pub(super) fn set(&mut self, crew: usize, value: Value, datum: Datum) {
        if let Some(to) = self.crews[crew].data.get_mut(place(value)) {
            *to = datum;
        }
    }

    fn pass(&mut self, crew: usize, from: &[Value], to: &[Value]) {
        let data: Vec<Datum> = from.iter().map(|&value| self.get(crew, value)).collect();
        for (&to, datum) in to.iter().zip(data) {
            self.set(crew, to, datum);
        }
    }

    /// Notes that something at `at` depends on a value.
    pub(super) fn decides(&mut self, at: Loc, datum: Datum) {
        if !datum.sources.is_empty() {
            let sources = self.seen.decided.entry(at).or_default();
            *sources = sources.join(datum.sources);
        }
    }

    /// A number that decides on something at `at`.
    pub(super) fn number(&mut self, crew: usize, value: Value, at: Loc) -> Result<i128, Stop> {
        let datum = self.get(crew, value);
        self.decides(at, datum);
        datum.number().ok_or(Stop::Unknown(at, Reason::Data))
    }

    fn step(&mut self, crew: usize) -> Result<(), Stop> {
        let Some(frame) = self.crews[crew].frames.last_mut() else {
            self.crews[crew].state = State::Ended;
            return Ok(());
        };
        let code = frame.code;
        let Some(step) = code.steps.get(frame.next) else {
            return self.end(crew, code.end);
        };
        frame.next += 1;
        self.count(step.at)?;
        self.what(crew, step)
    }

    /// One more statement, or iteration.
    fn count(&mut self, at: Loc) -> Result<(), Stop> {
        self.seen.steps += 1;
        if self.seen.steps > MOST_STEPS { Err(Stop::Unknown(at, Reason::Long)) } else { Ok(()) }
    }

    fn compute(&mut self, crew: usize, applied: Applied<'_>) {
        let data: Vec<Datum> = applied.args.iter().map(|&arg| self.get(crew, arg)).collect();
        let place = Place {
            kernel: self.kernel,
            numbers: self.numbers,
            launch: self.launch,
            block: self.crews[crew].who[0],
        };
        let datum = place.compute(applied, &data);
        if let Some(result) = applied.result {
            self.set(crew, result, datum);
        }
    }

    fn what(&mut self, crew: usize, step: &'c Step<'c>) -> Result<(), Stop> {
        match &step.what {
            What::Compute(applied) => self.compute(crew, *applied),
            What::Unknown(results) => {
                for &result in *results {
                    self.set(crew, result, Datum::UNKNOWN);
                }
            }
            What::Act(applied, effects) => {
                if self.act(crew, *applied, effects, step.at)? {
                    self.seen.reached.insert(step.number);
                }
            }
            What::Assert(condition) => {
                if self.get(crew, *condition).number() == Some(0) {
                    return Err(Stop::Refused);
                }
            }
            What::If { condition, sides, results, leaves } => {
                let datum = self.get(crew, *condition);
                let holds = self.number(crew, *condition, step.at)? != 0;
                if *leaves {
                    self.bound(datum.sources);
                    self.bounded_so_far(crew, datum.sources);
                }
                let code = &sides[usize::from(!holds)];
                let around = Around::Side(results);
                self.crews[crew].frames.push(Frame { code, next: 0, around });
            }
            What::For { bounds, inits, body, results } => {
                self.begin_for(crew, (*bounds, inits, results), body, step.at)?;
            }
            What::Loop { inits, body, results } => {
                self.pass(crew, inits, body.args);
                let around = Around::Loop { results, iterations: 0 };
                self.crews[crew].frames.push(Frame { code: body, next: 0, around });
            }
            What::Parts { parts, results } => self.begin_parts(crew, parts, results),
        }
        Ok(())
    }

    /// Notes numbers that bound a loop.
    fn bound(&mut self, sources: Sources) {
        self.seen.bounds = self.seen.bounds.join(sources.without(self.numbers.truths()));
    }

    /// Such numbers say that the innermost loop goes on, or ends.
    fn bounded_so_far(&mut self, crew: usize, sources: Sources) {
        let loops = self.crews[crew].frames.iter().rev().find_map(|frame| match frame.around {
            Around::Loop { iterations, .. } => Some(iterations),
            Around::For { .. } | Around::Part | Around::Side(_) | Around::Default(_) => None,
        });
        if !sources.is_empty() {
            self.seen.iterations = self.seen.iterations.max(loops.unwrap_or(0));
        }
    }

    fn begin_for(
        &mut self,
        crew: usize,
        (bounds, inits, results): ([Value; 3], &'c [Value], &'c [Value]),
        body: &'c Code<'c>,
        at: Loc,
    ) -> Result<(), Stop> {
        let [from, to, by] = bounds.map(|bound| self.get(crew, bound));
        let sources = from.sources.join(to.sources).join(by.sources);
        self.bound(sources);
        let numbers = (from.number(), to.number(), by.number());
        let (Some(first), Some(bound), Some(step)) = numbers else {
            return Err(Stop::Unknown(at, Reason::Data));
        };
        if step == 0 {
            return Err(Stop::Refused);
        }
        if !(if step < 0 { first > bound } else { first < bound }) {
            self.pass(crew, inits, results);
            return Ok(());
        }
        self.pass(crew, inits, &body.args[1..]);
        let at = Datum { sources: from.sources.join(by.sources), ..from };
        self.set(crew, body.args[0], at);
        let around = Around::For { at, bound, step, results };
        if !sources.is_empty() {
            let iterations = (bound - first).unsigned_abs().div_ceil(step.unsigned_abs().max(1));
            let iterations = u32::try_from(iterations).unwrap_or(u32::MAX);
            self.seen.iterations = self.seen.iterations.max(iterations);
        }
        self.crews[crew].frames.push(Frame { code: body, next: 0, around });
        Ok(())
    }

    /// The other parts begin with what the block's own warps know, who go on with the default part.
    fn begin_parts(&mut self, crew: usize, parts: &'c [Code<'c>], results: &'c [Value]) {
        let [block, _] = self.crews[crew].who;
        self.meet(crew);
        let known = self.crews[crew].clocks[0].clone();
        let data = self.crews[crew].data.clone();
        for (other, code) in parts.iter().enumerate().skip(1) {
            let Some(other) = self.crews.get_mut(crew + other) else { continue };
            debug_assert_eq!(other.who[0], block, "the parts of a block follow each other");
            other.state = State::Runs;
            other.data.clone_from(&data);
            other.clocks.iter_mut().for_each(|clock| clock.join(&known));
            other.frames = vec![Frame { code, next: 0, around: Around::Part }];
        }
        self.step_clocks(crew);
        if let Some(code) = parts.first() {
            let around = Around::Default(results);
            self.crews[crew].frames.push(Frame { code, next: 0, around });
        }
    }

    fn end(&mut self, crew: usize, end: &'c Terminator) -> Result<(), Stop> {
        match end {
            Terminator::Return => self.crews[crew].state = State::Ended,
            Terminator::Yield(values) => match self.crews[crew].frames.pop() {
                Some(Frame { around: Around::Side(results), .. }) => {
                    self.pass(crew, values, results);
                }
                Some(Frame { around: Around::Default(results), .. }) => {
                    self.pass(crew, values, results);
                    self.crews[crew].state = State::Waits(Loc::KERNEL, Waiting::Parts);
                }
                Some(_) | None => self.crews[crew].state = State::Ended,
            },
            Terminator::Continue(depth, values) => self.next_iteration(crew, *depth, values)?,
            Terminator::Break(depth, values) => {
                self.leave_to_loop(crew, *depth);
                if let Some(Frame {
                    around: Around::For { results, .. } | Around::Loop { results, .. },
                    ..
                }) = self.crews[crew].frames.pop()
                {
                    self.pass(crew, values, results);
                }
            }
        }
        Ok(())
    }

    /// Leaves everything inside the loop of this depth.
    fn leave_to_loop(&mut self, crew: usize, depth: u32) {
        let frames = &mut self.crews[crew].frames;
        let mut outer = depth;
        while let Some(frame) = frames.last() {
            if matches!(frame.around, Around::For { .. } | Around::Loop { .. }) {
                if outer == 0 {
                    return;
                }
                outer -= 1;
            }
            frames.pop();
        }
    }

    fn next_iteration(&mut self, crew: usize, depth: u32, values: &'c [Value]) -> Result<(), Stop> {
        self.count(Loc::KERNEL)?;
        self.leave_to_loop(crew, depth);
        let Some(frame) = self.crews[crew].frames.last_mut() else { return Ok(()) };
        frame.next = 0;
        let args = frame.code.args;
        match &mut frame.around {
            Around::For { at, bound, step, results } => {
                let next = at.number().unwrap_or(0) + *step;
                at.thing = Thing::Number(next);
                let (at, results) = (*at, *results);
                let goes_on = if *step < 0 { next > *bound } else { next < *bound };
                if goes_on {
                    self.pass(crew, values, &args[1..]);
                    self.set(crew, args[0], at);
                } else {
                    self.crews[crew].frames.pop();
                    self.pass(crew, values, results);
                }
            }
            Around::Loop { iterations, .. } => {
                *iterations += 1;
                self.pass(crew, values, args);
            }
            Around::Part | Around::Side(_) | Around::Default(_) => {}
        }
        Ok(())
    }

    /// The threads of a part wait for each other.
    pub(super) fn meet(&mut self, crew: usize) {
        let [issuer, others] = &mut self.crews[crew].clocks;
        issuer.join(others);
        others.join(issuer);
        self.step_clocks(crew);
    }

    /// What the threads of a part do from here on comes after what they have announced.
    pub(super) fn step_clocks(&mut self, crew: usize) {
        let who = self.crews[crew].who;
        for half in Half::BOTH {
            self.step_clock(crew, who, half);
        }
    }

    pub(super) fn step_clock(&mut self, crew: usize, who: [u32; 2], half: Half) {
        let component = self.components.part(who, Of::Threads(half));
        self.crews[crew].clocks[usize::from(half == Half::Others)].step(component);
    }

    /// What of the threads of a part has been done at this point.
    pub(super) fn done_so_far(&self, crew: usize) -> [(u32, u32); 2] {
        let one = &self.crews[crew];
        Half::BOTH.map(|half| {
            // The lanes of one warp wait together.
            let half = if one.warps == 1 { Half::Issuer } else { half };
            let component = self.components.part(one.who, Of::Threads(half));
            (component, one.clocks[usize::from(half == Half::Others)].get(component))
        })
    }
}
