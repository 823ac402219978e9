//! Order, run out: each part of each block of a cluster, from barrier to barrier, for a few launches.
//!
//! What decides about order is little: the state of barriers, and where each part of the program stands (`code`). With numbers for the
//! arguments (`launch`) it is run like a program (`machine`, `act`). Vector clocks (`clock`) say which accesses of shared and tensor memory
//! are over for whom: two that touch the same memory, of which one writes, and neither of which is over for the other, are a hazard,
//! whichever comes first (`memory`). So is a wait that nothing ends any more.
//!
//! One order of the parts stands for all of them as long as each arrival, and each copy, counts for one phase only: who arrives knows that
//! the phase before is over, and who has waited for a phase has left the wait before the next one ends (`barriers`). What is beyond that,
//! or depends on data, on how arguments go together, or on arguments and blocks that bound no loop, is left to the emulator.
//!
//! The threads of a part run as two: the one that starts asynchronous operations, and all others. Which of them holds which element of
//! a tile only layouts say.

use std::fmt;

use self::{
    code::Code,
    launch::{APART, EMPTY, Numbers, Sources},
    machine::{Machine, Seen, Turns, Waiting},
    memory::Access,
    values::Barrier,
};
use crate::{
    diag::{Diagnostic, counted},
    elaborate::Written,
    ir::{Kernel, Param, StmtKind},
    loc::{Loc, Places},
};

mod act;
mod arrivals;
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
    /// Accesses of shared and tensor memory are ordered, and every wait ends, in every launch whose loops run as those that were tried.
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
    /// An argument, an extent or the place of the block in the grid decides about more than how often loops run.
    Chosen,
    /// What is wrong depends on an argument that bounds no loop: a parameter, by its number.
    Argument(u32),
    /// The same of an extent of a parameter.
    Extent(u32),
    /// Something is wrong unless numbers that bound loops go together in some way, or are multiples of others.
    Related,
    /// Something is wrong if loops run a few times, and not if they run more often.
    Few,
    /// Something is wrong if a loop runs so many times, and not if it runs less often.
    Often(u32),
    /// Something is wrong only if extents and bounds of loops are 0.
    Empty,
    /// Threads use each other's elements, or not, as layouts are.
    Elements,
    /// What one part wrote is told to the other one by nothing but the end of a copy or of products.
    Unannounced,
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
    /// The kernel's assertions refuse the launches that were tried.
    Asserted,
}

/// What is wrong.
#[derive(Clone, Debug)]
enum Finding {
    /// Nothing orders two accesses.
    Race { first: Access, second: Access },
    /// An arrival at a barrier whose phase has all of its arrivals.
    TooOften { barrier: Barrier, at: Loc },
    /// A wait that never ends.
    Stuck { wait: Blocked, state: Option<Stuck>, others: Vec<Blocked> },
    /// The kernel ends while this may still be in flight.
    Open { access: Access },
}

/// A part that waits, and what for.
#[derive(Clone, Copy, Debug)]
struct Blocked {
    /// The block and the part.
    who: [u32; 2],
    at: Loc,
    waiting: Waiting,
}

/// The state of an mbarrier on which a part waits in vain.
#[derive(Clone, Copy, Debug)]
struct Stuck {
    count: u32,
    missing: u32,
    expected: i128,
    delivered: i128,
    phases: u32,
    arrived: Option<Loc>,
    /// How many phases the part knows to be over.
    known: u32,
}

impl Stuck {
    fn has_begun(&self) -> bool {
        self.missing < self.count || self.expected != self.delivered
    }
}

impl Finding {
    /// Parts wait, and none can go on.
    fn stuck(machine: &Machine<'_>, mut waits: Vec<Blocked>) -> Finding {
        let state = |wait: &Blocked| {
            let Waiting::Phase { barrier, .. } = wait.waiting else { return None };
            let at = machine.barriers.at(barrier);
            let crew = machine.crews.iter().find(|crew| crew.who == wait.who)?;
            let over = machine.barriers.component(barrier);
            Some(Stuck {
                known: crew.clocks.iter().map(|clock| clock.happened(over)).max().unwrap_or(0),
                count: at.count,
                missing: at.missing,
                expected: at.expected,
                delivered: at.delivered,
                phases: at.phases,
                arrived: at.arrived,
            })
        };
        let begun = |wait: &Blocked| state(wait).is_some_and(|one| one.has_begun());
        // A phase that has begun and does not end says most; the end of all parts, least.
        waits.sort_by_key(|wait| match wait.waiting {
            Waiting::Phase { .. } if begun(wait) => 0,
            Waiting::Phase { .. } => 1,
            Waiting::Named { .. } => 2,
            Waiting::Cluster { .. } => 3,
            Waiting::Parts => 4,
        });
        let wait = waits.remove(0);
        waits.retain(|other| !matches!(other.waiting, Waiting::Parts));
        Finding::Stuck { wait, state: state(&wait), others: waits }
    }

    /// Where it is.
    fn place(&self) -> Loc {
        match self {
            Finding::Race { second, .. } => second.at,
            Finding::TooOften { at, .. } => *at,
            Finding::Stuck { wait, .. } => wait.at,
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

/// The most components of a clock: each barrier has clocks of its own.
const MOST_COMPONENTS: usize = 2048;

/// The most statements that are followed in search of a launch without a hazard.
const MOST_STEPS: u32 = 4_000_000;

/// Runs the order of a scheduled kernel out; what is known then.
pub(crate) fn explore(kernel: &Kernel, written: &Written) -> Explored {
    let explored = run_out(kernel, written);
    match explored.verdict {
        Verdict::Proven { .. } | Verdict::Refused | Verdict::Left { reason: Reason::Text, .. } => {
            explored
        }
        Verdict::Left { .. } => {
            let problem = messages::Said { kernel, written }.never_ends();
            let refused = |problem| Explored { verdict: Verdict::Refused, problem: Some(problem) };
            problem.map_or(explored, refused)
        }
    }
}

fn run_out(kernel: &Kernel, written: &Written) -> Explored {
    let left = |at, reason| Explored::of(Verdict::Left { at, reason });
    let mut text = None;
    kernel.body.each_stmt(&mut |stmt| {
        if matches!(&stmt.kind, StmtKind::Ptx { code, .. } if code.touches_memory()) {
            text.get_or_insert(stmt.loc);
        }
    });
    if let Some(at) = text {
        return left(at, Reason::Text);
    }
    let Some(code) = code::of(kernel) else {
        return Explored::of(Verdict::Proven { iterations: None });
    };
    if machine::components(kernel).len() > MOST_COMPONENTS {
        return left(Loc::KERNEL, Reason::Long);
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
    if let Some(finding) = &in_full[0].finding
        && in_full.iter().all(|seen| seen.finding.is_some())
    {
        if let Some(reason) = deciding(&numbers, in_full) {
            return left(finding.place(), reason);
        }
        let bounds = bounds(in_full);
        let mut steps = 0;
        let several = numbers.opinions(kernel, &launches[0], bounds);
        let fine = several.iter().any(|launch| {
            let seen = machine::run(kernel, &code, &numbers, launch, Turns::First);
            steps += seen.steps;
            seen.ended || steps > MOST_STEPS
        });
        if fine {
            return left(finding.place(), Reason::Related);
        }
        let said = messages::Said { kernel, written };
        // A part may wait without end because another one does not wait at all.
        let findings = in_full.iter().filter_map(|seen| seen.finding.as_ref());
        let finding = findings.into_iter().find(|one| said.is_unawaited(one)).unwrap_or(finding);
        let problem = said.diagnostic(finding);
        return Explored { verdict: Verdict::Refused, problem: Some(problem) };
    }
    Explored::of(without_problem(&numbers, &code, &seen))
}

/// What is known if the launches in full do not all show something wrong.
fn without_problem(numbers: &Numbers, code: &Code<'_>, seen: &[Seen]) -> Verdict {
    let left = |at, reason| Verdict::Left { at, reason };
    let found =
        seen.iter().enumerate().find_map(|(index, seen)| Some((index, seen.finding.as_ref()?)));
    if let Some((index, finding)) = found {
        let of_launch = match index {
            EMPTY => Reason::Empty,
            APART => Reason::Related,
            1 if seen[index].iterations > 0 => Reason::Often(seen[index].iterations),
            _ => Reason::Few,
        };
        return left(finding.place(), deciding(numbers, seen).unwrap_or(of_launch));
    }
    if let Some((at, reason)) = seen.iter().find_map(|seen| seen.doubt) {
        return left(at, reason);
    }
    if !seen.iter().take(2).any(|seen| seen.ended) {
        return left(Loc::KERNEL, Reason::Asserted);
    }
    let reached = seen.iter().flat_map(|seen| seen.reached.iter().copied()).collect();
    if let Some(at) = code.unreached(&reached) {
        return left(at, Reason::Unreached);
    }
    // What bounds loops has the numbers of the launches that were tried.
    let bounds = bounds(seen);
    let mut decided = seen.iter().flat_map(|seen| &seen.decided);
    if let Some((&at, _)) = decided.find(|(_, sources)| !sources.without(bounds).is_empty()) {
        return left(at, Reason::Chosen);
    }
    let ended = seen.iter().filter(|seen| seen.ended);
    let most = ended.map(|seen| seen.iterations).max().filter(|&most| most > 0);
    Verdict::Proven { iterations: most }
}

/// The numbers that bound loops.
fn bounds(seen: &[Seen]) -> Sources {
    seen.iter().fold(Sources::NONE, |all, one| all.join(one.bounds))
}

/// Neighbouring launches begin with other parts.
fn turns_of(launch: usize) -> Turns {
    if launch.is_multiple_of(2) { Turns::First } else { Turns::Last }
}

/// A number of the launch that decides about more than how often loops run, as a reason.
fn deciding(numbers: &Numbers, seen: &[Seen]) -> Option<Reason> {
    numbers.arguments().find_map(|(reason, bit)| {
        let decides = seen.iter().any(|seen| {
            seen.decided.values().any(|sources| {
                let others = sources.without(seen.bounds);
                others.without(bit) != others
            })
        });
        decides.then_some(reason)
    })
}

impl Verdict {
    /// Whether some launches are known to go wrong.
    pub(crate) fn is_hazard(self) -> bool {
        match self {
            Verdict::Proven { .. } | Verdict::Refused => false,
            Verdict::Left { reason, .. } => reason.is_hazard(),
        }
    }
}

impl Reason {
    /// Whether something is wrong in a launch that was tried.
    fn is_hazard(self) -> bool {
        match self {
            Reason::Argument(_)
            | Reason::Extent(_)
            | Reason::Related
            | Reason::Few
            | Reason::Often(_)
            | Reason::Empty => true,
            Reason::Data
            | Reason::Window
            | Reason::Barrier
            | Reason::Chosen
            | Reason::Elements
            | Reason::Unannounced
            | Reason::Early
            | Reason::Unseen
            | Reason::Earlier
            | Reason::Polled
            | Reason::Text
            | Reason::Long
            | Reason::Unreached
            | Reason::Asserted => false,
        }
    }

    /// In words; `name` is that of a parameter.
    fn words(self, name: impl Fn(u32) -> String) -> String {
        match self {
            Reason::Data => "what comes next depends on what the kernel computes".to_owned(),
            Reason::Window => "which part of the memory it is, is known at run time".to_owned(),
            Reason::Barrier => "which barrier it is, is known at run time".to_owned(),
            Reason::Chosen => {
                "an argument, an extent or the block decides what is done here".to_owned()
            }
            Reason::Argument(param) => format!("it depends on the argument `{}`", name(param)),
            Reason::Extent(param) => {
                format!("it depends on an extent of the argument `{}`", name(param))
            }
            Reason::Related => {
                "it depends on how the arguments and extents that bound loops go together".to_owned()
            }
            Reason::Few => "a hazard if loops have few iterations, and none if they have more".to_owned(),
            Reason::Often(many) => {
                format!("a hazard in a launch whose loops have {}, and none in one with fewer", counted(many as usize, "iteration"))
            }
            Reason::Empty => "a hazard if an extent or a bound is 0".to_owned(),
            Reason::Elements => {
                "no barrier stands between accesses of all threads: layouts say whether they need one".to_owned()
            }
            Reason::Unannounced => {
                "only the end of a copy or of products says that the access before is over".to_owned()
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
            Reason::Asserted => {
                "the assertions of the kernel refuse the launches that were tried".to_owned()
            }
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
