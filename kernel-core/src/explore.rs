//! Order, run out: each part of each block of a cluster, from barrier to barrier, for a few launches.
//!
//! What decides about order is little: the state of barriers, and where each part of the program stands (`code`). With numbers for the
//! arguments (`launch`) it is run like a program (`machine`, `act`), in one order of the parts. Vector clocks (`clock`) say which accesses of
//! shared and tensor memory are over for whom: two that touch the same memory, of which one writes, and neither of which is over for the
//! other, are a hazard, whichever comes first (`memory`). So is a wait for what nobody does any more.
//!
//! If nothing is found, nothing is there in any order either, as long as each arrival counts for one phase only: who arrives knows that
//! the phase before is over, and who has waited for a phase has left the wait before the next one ends (`barriers`). What a kernel does
//! beyond that, by data or by arguments that are no bounds of loops, is left to the emulator.
//!
//! The threads of a part run as two: the one that starts asynchronous operations, and all others. Which of them holds which element of
//! a tile only layouts say.

use std::fmt;

use self::{
    launch::{EMPTY, Numbers, Sources},
    machine::{Machine, Seen, Turns, Waiting},
    memory::Access,
    values::Barrier,
};
use crate::{
    diag::Diagnostic,
    elaborate::Written,
    ir::{Kernel, Param, StmtKind},
    loc::{Loc, Places},
};

mod act;
mod barriers;
mod clock;
mod code;
mod launch;
mod machine;
mod memory;
mod messages;
mod values;

/// What is known of the order of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Accesses of shared and tensor memory are ordered, and every wait ends.
    Proven {
        /// Loops whose bounds are arguments were followed for up to so many iterations; none if there are no such loops.
        iterations: Option<u32>,
    },
    /// Something is wrong, and is reported.
    Refused,
    /// A run on the emulator says more.
    Left {
        /// The place that decides.
        at: Loc,
        /// Why.
        reason: Reason,
    },
}

/// Why a kernel is left to the emulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Something depends on what the kernel computes or reads.
    Data,
    /// Which window is accessed is not known.
    Window,
    /// Which barrier it is, is not known.
    Barrier,
    /// A branch depends on arguments alone.
    Chosen,
    /// What is wrong depends on an argument that bounds no loop: a parameter, by its number.
    Argument(u32),
    /// Something is wrong unless arguments that bound loops go together in some way.
    Related,
    /// Something is wrong only if loops run a few times.
    Few,
    /// Something is wrong only if extents and bounds of loops are 0.
    Empty,
    /// Threads use each other's elements, or not, as layouts are.
    Elements,
    /// An arrival may count for the phase before.
    Early,
    /// A wait may miss the end of its phase.
    Unseen,
    /// A wait may end with an earlier phase of the same parity.
    Earlier,
    /// A wait that does not block.
    Polled,
    /// Instructions that the user wrote out.
    Text,
    /// Too much to follow.
    Long,
    /// No launch that was tried comes here.
    Unreached,
}

/// What is wrong.
#[derive(Clone, Copy, Debug)]
enum Finding {
    /// Nothing orders two accesses.
    Race { first: Access, second: Access },
    /// An arrival at a barrier whose phase has all of its arrivals.
    TooOften { barrier: Barrier, at: Loc },
    /// A wait that never ends.
    Stuck {
        who: [u32; 2],
        at: Loc,
        waiting: Waiting,
        state: Option<Stuck>,
        other: Option<(Loc, [u32; 2])>,
    },
    /// The kernel ends while this may still be under way.
    Open { access: Access },
}

/// The state of a barrier that is waited for in vain.
#[derive(Clone, Copy, Debug)]
struct Stuck {
    count: u32,
    missing: u32,
    bytes: i128,
    phases: u32,
    arrived: Option<Loc>,
}

impl Finding {
    /// Parts wait, and none can go on.
    fn stuck(machine: &Machine<'_>, waits: &[([u32; 2], Loc, Waiting)]) -> Finding {
        let state = |waiting: Waiting| {
            let Waiting::Phase { barrier, .. } = waiting else { return None };
            let at = machine.barriers.at(barrier);
            Some(Stuck {
                count: at.count,
                missing: at.missing,
                bytes: at.bytes,
                phases: at.phases,
                arrived: at.arrived,
            })
        };
        let begun = |waiting: Waiting| {
            state(waiting).is_some_and(|one| one.missing < one.count || one.bytes != 0)
        };
        // A phase that has begun and does not end says most; the end of all parts, least.
        let best = waits.iter().min_by_key(|(_, _, waiting)| match waiting {
            Waiting::Phase { .. } if begun(*waiting) => 0,
            Waiting::Phase { .. } => 1,
            Waiting::Named { .. } | Waiting::Cluster { .. } => 2,
            Waiting::Parts => 3,
        });
        let &(who, at, waiting) = best.expect("a part waits, or all have ended");
        let other = waits
            .iter()
            .find(|(other, _, waiting)| *other != who && !matches!(waiting, Waiting::Parts));
        let other = other.map(|&(who, at, _)| (at, who));
        Finding::Stuck { who, at, waiting, state: state(waiting), other }
    }

    /// Where it is.
    fn place(&self) -> Loc {
        match *self {
            Finding::Race { second, .. } => second.at,
            Finding::TooOften { at, .. } | Finding::Stuck { at, .. } => at,
            Finding::Open { access } => access.at,
        }
    }
}

/// What exploring a kernel gives.
pub(crate) struct Explored {
    /// What is known.
    pub(crate) verdict: Verdict,
    /// What is wrong.
    pub(crate) problem: Option<Diagnostic>,
}

impl Explored {
    fn of(verdict: Verdict) -> Self {
        Explored { verdict, problem: None }
    }
}

/// Runs the order of a scheduled kernel out; what is known then.
pub(crate) fn explore(kernel: &Kernel, written: &Written) -> Explored {
    let Some(code) = code::of(kernel) else {
        return Explored::of(Verdict::Proven { iterations: None });
    };
    let text = |at, reason| Explored::of(Verdict::Left { at, reason });
    let mut unknown = None;
    kernel.body.each_stmt(&mut |stmt| {
        if matches!(&stmt.kind, StmtKind::Ptx { code, .. } if code.touches_memory()) {
            unknown.get_or_insert(stmt.loc);
        }
    });
    if let Some(at) = unknown {
        return text(at, Reason::Text);
    }
    let numbers = Numbers::of(kernel, &code);
    let launches = numbers.launches(kernel);
    let run = |index: usize, turns| machine::run(kernel, &code, &numbers, &launches[index], turns);
    let mut seen: Vec<Seen> =
        (0..launches.len()).map(|index| run(index, turns_of(index))).collect();
    if let [one] = seen.as_slice()
        && one.finding.is_none()
    {
        seen = vec![run(0, Turns::Last)];
    }
    for (index, other) in [(0, 1), (1, 0)] {
        if seen.len() > 1 && seen[index].finding.is_none() && seen[other].finding.is_some() {
            // What is wrong may show only if another part comes first.
            seen[index] = run(index, turns_of(index).other());
        }
    }
    let in_full = &seen[..seen.len().min(2)];
    if let Some(finding) = in_full[0].finding
        && in_full.iter().all(|seen| seen.finding.is_some())
    {
        if let Some(param) = deciding(&numbers, in_full) {
            return text(finding.place(), Reason::Argument(param));
        }
        let bounds = in_full.iter().fold(Sources::NONE, |all, one| all.join(one.bounds));
        let fine = |launch| machine::run(kernel, &code, &numbers, launch, Turns::First).ended;
        if numbers.opinions(kernel, &launches[0], bounds).iter().any(fine) {
            return text(finding.place(), Reason::Related);
        }
        let problem = messages::Said { kernel, written }.diagnostic(&finding);
        return Explored { verdict: Verdict::Refused, problem: Some(problem) };
    }
    let found = seen.iter().enumerate().find_map(|(index, seen)| Some((index, seen.finding?)));
    if let Some((index, finding)) = found {
        let few = if index == EMPTY { Reason::Empty } else { Reason::Few };
        return text(finding.place(), deciding(&numbers, &seen).map_or(few, Reason::Argument));
    }
    if let Some((at, reason)) = seen.iter().find_map(|seen| seen.doubt) {
        return text(at, reason);
    }
    let reached = seen.iter().flat_map(|seen| seen.reached.iter().copied()).collect();
    if let Some(at) = code.unreached(&reached) {
        return text(at, Reason::Unreached);
    }
    let bounds = seen.iter().fold(Sources::NONE, |all, one| all.join(one.bounds));
    let mut chosen = seen.iter().flat_map(|seen| &seen.chosen);
    // What bounds loops has the numbers of the launches that were tried.
    if let Some(&(at, _)) = chosen.find(|(_, sources)| !sources.without(bounds).is_empty()) {
        return text(at, Reason::Chosen);
    }
    let most = seen.iter().map(|seen| seen.iterations).max().filter(|&most| most > 0);
    Explored::of(Verdict::Proven { iterations: most })
}

/// Neighbouring launches begin with other parts.
fn turns_of(launch: usize) -> Turns {
    if launch.is_multiple_of(2) { Turns::First } else { Turns::Last }
}

/// A scalar argument that decides about more than how often loops run.
fn deciding(numbers: &Numbers, seen: &[Seen]) -> Option<u32> {
    numbers.scalars().find_map(|(param, bit)| {
        let decides = seen.iter().any(|seen| {
            let others = seen.decides.without(seen.bounds);
            others.without(bit) != others
        });
        (decides && !bit.is_empty()).then_some(param)
    })
}

impl Reason {
    /// In words; `name` is that of a parameter.
    fn words(self, name: impl Fn(u32) -> String) -> String {
        match self {
            Reason::Data => "what comes next depends on what the kernel computes".to_owned(),
            Reason::Window => "which part of the memory it is, is known at run time".to_owned(),
            Reason::Barrier => "which barrier it is, is known at run time".to_owned(),
            Reason::Chosen => "an argument decides which branch is taken".to_owned(),
            Reason::Argument(param) => format!("it depends on the argument `{}`", name(param)),
            Reason::Related => {
                "it depends on how the arguments that bound loops go together".to_owned()
            }
            Reason::Few => "a hazard, but only if loops run a few times".to_owned(),
            Reason::Empty => "a hazard, but only if an extent or a bound is 0".to_owned(),
            Reason::Elements => {
                "no barrier stands between accesses of all threads: layouts say whether they need one".to_owned()
            }
            Reason::Early => "this arrival may count for the phase before".to_owned(),
            Reason::Unseen => "the phase after may end before all threads leave this wait".to_owned(),
            Reason::Earlier => {
                "this wait may end with an earlier phase of the same parity".to_owned()
            }
            Reason::Polled => "a wait that does not block".to_owned(),
            Reason::Text => "instructions of `ptx!` access memory".to_owned(),
            Reason::Long => "too many steps to follow".to_owned(),
            Reason::Unreached => "none of the launches that were tried comes here".to_owned(),
        }
    }
}

/// A verdict in words.
#[derive(Debug)]
pub struct Shown<'a> {
    /// The verdict.
    pub verdict: Verdict,
    /// The parameters of the kernel.
    pub params: &'a [Param],
    /// Where its places are.
    pub places: &'a Places,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict {
            Verdict::Proven { iterations: None } => out.write_str("proven"),
            Verdict::Proven { iterations: Some(most) } => {
                write!(out, "proven for loops of up to {most} iterations")
            }
            Verdict::Refused => out.write_str("refused"),
            Verdict::Left { at, reason } => {
                let name = |param: u32| self.params[param as usize].name.clone();
                let line = self.places.line_column(at).0;
                write!(out, "left to the emulator: line {line}: {}", reason.words(name))
            }
        }
    }
}
