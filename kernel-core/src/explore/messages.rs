//! What is said of a hazard.

use super::{
    Finding, Stuck,
    machine::Waiting,
    memory::Access,
    values::{Barrier, Space, Window},
};
use crate::{
    diag::{Code, Diagnostic, counted},
    elaborate::Written,
    ir::{BarrierOp, By, Does, Kernel, Op, SyncOp, Value, WindowOp},
    loc::Loc,
};

/// What the words come from.
pub(super) struct Said<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) written: &'a Written,
}

/// The section of the manual on mbarriers.
const MBARRIER: &str = "Parallel Synchronization and Communication Instructions: mbarrier";

impl Said<'_> {
    pub(super) fn diagnostic(&self, finding: &Finding) -> Diagnostic {
        match finding {
            Finding::Race { first, second } => {
                let [block, _] = second.who;
                if first.who[0] == block && second.window.block == block {
                    self.race(first, second)
                } else {
                    self.between_blocks(first, second)
                }
            }
            Finding::TooOften { barrier, at } => self.too_often(*barrier, *at),
            Finding::Stuck { who, at, waiting, state, other } => {
                self.stuck((*who, *at), *waiting, *state, *other)
            }
            Finding::Open { access } => self.open(access),
        }
    }

    /// The name of a value that an allocation gives.
    fn made(&self, is_it: impl Fn(&Op) -> bool) -> Option<(String, Loc)> {
        let mut found: Option<(Value, Loc)> = None;
        self.kernel.body.each_op(&mut |op, _, result, loc| {
            if let (true, Some(result)) = (is_it(op), result) {
                found.get_or_insert((result, loc));
            }
        });
        let (value, loc) = found?;
        Some((self.written.name(value)?, loc))
    }

    /// A barrier, as the kernel spells it.
    fn barrier(&self, barrier: Barrier) -> Option<(String, Loc)> {
        let is_it = |op: &Op| *op == Op::Sync(SyncOp::Barrier(BarrierOp::Alloc(barrier.root)));
        let (name, at) = self.made(is_it)?;
        let ring = self.kernel.barriers[barrier.root].ring.is_some();
        Some((if ring { format!("{name}[{}]", barrier.index) } else { name }, at))
    }

    /// The memory, as the kernel calls it.
    fn memory(&self, window: &Window) -> String {
        let shared = match window.space {
            Space::Shared => self.made(|op| {
                matches!(op, Op::Window(WindowOp::Alloc(root)) if root.into_raw().into_u32() == window.root)
            }),
            Space::Tensor => None,
        };
        match (window.space, shared) {
            (Space::Shared, Some((name, _))) => format!("`{name}`"),
            (Space::Shared, None) => "shared memory".to_owned(),
            (Space::Tensor, _) => "tensor memory".to_owned(),
        }
    }

    /// The number of blocks of a cluster.
    fn blocks(&self) -> u32 {
        self.kernel.cluster.iter().product()
    }

    /// A part of the kernel.
    fn part(&self, [block, part]: [u32; 2]) -> String {
        let block = (self.blocks() > 1).then(|| format!("block {block}"));
        let part = self.kernel.specialized().map(|_| match part {
            0 => "the default part".to_owned(),
            part => format!("partition {part}"),
        });
        match (part, block) {
            (Some(part), Some(block)) => format!("{part} of {block}"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => "the kernel".to_owned(),
        }
    }

    /// Who accesses memory.
    fn agent(&self, access: &Access) -> String {
        let alone = self.blocks() == 1 && self.kernel.specialized().is_none();
        let what = match (access.by, access.does) {
            (By::Threads, _) if alone => "the threads",
            (By::Threads, _) => return self.part(access.who),
            (By::CpAsync, _) => "`copy_async`",
            (By::AsyncCopy, _) if access.on.is_some() => "a copy",
            (By::AsyncCopy, _) => "a store",
            (By::TensorCores, _) => "a product",
        };
        if alone { what.to_owned() } else { format!("{what} of {}", self.part(access.who)) }
    }

    /// The name of the barrier on which an access completes.
    fn completing(&self, access: &Access) -> Option<String> {
        Some(self.barrier(access.on?)?.0)
    }

    fn race(&self, first: &Access, second: &Access) -> Diagnostic {
        let memory = self.memory(&second.window);
        let same = first.who == second.who;
        let again = same && first.at == second.at && first.by == second.by;
        let earlier = if again { "an earlier one".to_owned() } else { self.agent(first) };
        let by = self.agent(second);
        let headline = format!(
            "{memory} is {} by {by} while {earlier} may still {} it",
            used(second),
            may(first)
        );
        let between = match (same, self.completing(first)) {
            (false, _) => format!(
                "a barrier at which {} or {} arrives after its access, and on which the other one waits before its own",
                self.part(first.who),
                self.part(second.who),
            ),
            (true, Some(name)) => format!(
                "a wait on `{name}` between the two, or on a barrier at which a part arrives that has waited on it"
            ),
            (true, None) => "a wait or a barrier between the two".to_owned(),
        };
        let here = format!("{} by {} here", used(first), self.agent(first));
        let waits = first.by == By::Threads && same;
        let diagnostic = Code::Unordered.at(second.at, headline).compare(
            "",
            between,
            "nothing that orders them",
        );
        let diagnostic = if again { diagnostic } else { diagnostic.place(first.at, here) };
        diagnostic
            .why(if same {
                "asynchronous operations and the threads of a part run on their own: one thread may start a copy while others are not yet done with the memory (PTX ISA, \"Memory Consistency Model\")"
            } else {
                "the parts of a kernel run on their own: only barriers say how far the others are (PTX ISA, \"Memory Consistency Model\")"
            })
            .help_if(waits.then_some("sync();"))
    }

    /// The number of the statement among those of the body, if this is the only place where it is done.
    fn in_turn(&self, at: Loc) -> Option<usize> {
        let mut times = 0;
        self.kernel.body.each_op(&mut |_, _, _, loc| times += u32::from(loc == at));
        let place = self.kernel.body.stmts.iter().position(|stmt| stmt.loc == at);
        place.filter(|_| times == 1)
    }

    fn between_blocks(&self, first: &Access, second: &Access) -> Diagnostic {
        let turns = (self.in_turn(first.at), self.in_turn(second.at));
        let straight = turns.0.is_some() && turns.1.is_some();
        // Of two that are done one after the other, the one that comes later in the text could have waited.
        let (first, second) =
            if straight && turns.0 > turns.1 { (second, first) } else { (first, second) };
        let memory = format!("{} of block {}", self.memory(&second.window), second.window.block);
        let again = first.who == second.who && first.at == second.at && first.by == second.by;
        let earlier = if again { "an earlier one".to_owned() } else { self.agent(first) };
        let headline = format!(
            "{memory} is {} by {} while {earlier} may still {} it",
            used(second),
            self.agent(second),
            may(first),
        );
        let diagnostic = Code::ClusterOrder.at(second.at, headline).compare(
            "",
            "`cluster::sync()`, or a barrier on which one block waits and at which the other one has arrived, between the two",
            "nothing that orders them",
        );
        let here = format!("{} by {} here", used(first), self.agent(first));
        let diagnostic = if again { diagnostic } else { diagnostic.place(first.at, here) };
        // What completes on a barrier is not done when the threads meet.
        let meets = straight && first.by == By::Threads && first.on.is_none();
        diagnostic
            .why("the blocks of a cluster run on their own: one may be anywhere in the kernel while another one accesses its memory (PTX ISA, \"barrier.cluster\")")
            .help_if(meets.then_some("cluster::sync();"))
    }

    fn too_often(&self, barrier: Barrier, at: Loc) -> Diagnostic {
        let named = self.barrier(barrier);
        let name = named.as_ref().map_or("the barrier".to_owned(), |(name, _)| format!("`{name}`"));
        let count = self.kernel.barriers[barrier.root].count;
        Code::Arrivals
            .at(at, format!("this arrives at {name} once more than a phase counts"))
            .compare("arrivals in a phase", count, format!("{} or more", count + 1))
            .place_if(named.map(|(_, at)| at), "the barrier is made here")
            .why(format!("the phase has all of its arrivals and waits for bytes; `expect` is an arrival as well, and one more belongs to no phase (PTX ISA, \"{MBARRIER}\")"))
    }

    fn stuck(
        &self,
        (who, at): ([u32; 2], Loc),
        waiting: Waiting,
        state: Option<Stuck>,
        other: Option<(Loc, [u32; 2])>,
    ) -> Diagnostic {
        if let (Waiting::Phase { barrier, parity, .. }, Some(state)) = (waiting, state) {
            let named = self.barrier(barrier);
            let name =
                named.as_ref().map_or("the barrier".to_owned(), |(name, _)| format!("`{name}`"));
            if state.missing < state.count || state.bytes != 0 {
                return self.counts(at, (&name, named.map(|(_, at)| at)), barrier, state);
            }
            if other.is_none() && state.phases > 0 {
                let parity = parity & 1;
                let phases = counted(state.phases as usize, "phase");
                return Code::WrongPhase
                    .at(at, format!("this waits for a phase of {name} that never begins"))
                    .compare(
                        "",
                        format!("one more phase, or a wait for parity {}", 1 - parity),
                        format!("a wait for parity {parity}, and {phases}, the last of parity {}", 1 - parity),
                    )
                    .place_if(state.arrived, "the last phase ends with this arrival")
                    .why("a wait returns while the last phase that is over has its parity; phases have parity 0, 1, 0 and so on, and a wait that comes after the phase that follows its own waits for the next one (PTX ISA, \"mbarrier.try_wait\")");
            }
        }
        let (what, made) = match waiting {
            Waiting::Phase { barrier, .. } => match self.barrier(barrier) {
                Some((name, made)) if self.blocks() > 1 => {
                    (format!("`{name}` of block {}", barrier.block), Some(made))
                }
                Some((name, made)) => (format!("`{name}`"), Some(made)),
                None => ("a barrier".to_owned(), None),
            },
            Waiting::Named { number, .. } => {
                let of_block = number % self.kernel.named.len().max(1);
                let made = self.kernel.named.iter().nth(of_block).map(|(_, data)| data.loc);
                ("a named barrier".to_owned(), made)
            }
            Waiting::Cluster { .. } => ("the other blocks of the cluster".to_owned(), None),
            Waiting::Parts => ("the other parts".to_owned(), None),
        };
        let headline = format!("{} waits for {what} without end", self.part(who));
        let others = match other {
            Some((_, who)) => format!("{} waits as well", self.part(who)),
            None => "all others have ended".to_owned(),
        };
        let diagnostic =
            Code::Deadlock.at(at, headline).compare("", "a part that can still arrive", others);
        let diagnostic = match other {
            Some((place, who)) if place != at => {
                diagnostic.place(place, format!("{} waits here", self.part(who)))
            }
            Some(_) | None => diagnostic,
        };
        diagnostic
            .place_if(made, "the barrier is made here")
            .why(format!("a wait ends when all arrivals of its phase have come: if each of the others waits or has ended, none comes (PTX ISA, \"{MBARRIER}\")"))
    }

    /// A phase that has begun and does not end.
    fn counts(
        &self,
        at: Loc,
        (name, made): (&str, Option<Loc>),
        barrier: Barrier,
        state: Stuck,
    ) -> Diagnostic {
        let come = state.count - state.missing;
        let diagnostic =
            Code::Arrivals.at(at, format!("the phase of {name} that this waits for never ends"));
        let diagnostic = if state.missing > 0 {
            diagnostic.compare("arrivals", state.count, come)
        } else {
            diagnostic
        };
        let bytes = state.bytes.unsigned_abs();
        let diagnostic = match state.bytes.signum() {
            1 => diagnostic.compare(
                "",
                "copies that deliver all bytes that are expected",
                format!("{bytes} bytes that no copy delivers"),
            ),
            -1 => diagnostic.compare(
                "",
                "`expect` of all bytes that copies deliver",
                format!("{bytes} bytes that nothing expects"),
            ),
            _ => diagnostic,
        };
        // Where there is one other part, nobody else could arrive.
        let parts = self.kernel.specialized().map_or(1, |found| 1 + found.partitions.len());
        let alone = self.blocks() == 1 && parts == 2 && come == 1;
        let fewer = (state.missing > 0 && alone && state.bytes == 0).then(|| {
            match self.kernel.barriers[barrier.root].ring {
                Some(ring) => format!("barriers({ring}, {come})"),
                None => format!("barrier({come})"),
            }
        });
        let of_phase = counted(state.count as usize, "arrival");
        diagnostic
            .place_if(made, &format!("the barrier counts {of_phase} in a phase"))
            .place_if(state.arrived, "the last arrival is here")
            .why(format!("a phase ends when all arrivals that the barrier counts, and all bytes that they expect, have come (PTX ISA, \"{MBARRIER}\")"))
            .help_if(fewer)
    }

    fn open(&self, access: &Access) -> Diagnostic {
        let memory = self.memory(&access.window);
        let (required, help) = match (self.completing(access), access.by) {
            (Some(name), _) => (format!("a wait on `{name}`"), None),
            (None, By::AsyncCopy) => {
                ("a wait for the store".to_owned(), Some("tma::store_wait(0);"))
            }
            (None, By::Threads | By::CpAsync | By::TensorCores) => {
                ("a wait for a barrier on which it completes".to_owned(), None)
            }
        };
        Code::OpenAtEnd
            .at(access.at, format!("the kernel ends while {} may still {} {memory}", self.agent(access), may(access)))
            .compare("", format!("{required} before the end"), "none")
            .why("the memory of a block is given to another one when its threads have ended, even if something in flight still uses it (PTX ISA, \"cp.async.bulk\")")
            .help_if(help)
    }
}

/// `read` or `written`.
fn used(access: &Access) -> &'static str {
    match access.does {
        Does::Reads => "read",
        Does::Writes => "written",
    }
}

/// `read` or `write`.
fn may(access: &Access) -> &'static str {
    match access.does {
        Does::Reads => "read",
        Does::Writes => "write",
    }
}
