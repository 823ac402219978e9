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
            Finding::Race { first, second, missed: Some(wait) } => {
                self.missed(first, second, *wait)
            }
            Finding::Race { first, second, missed: None } => {
                if first.who[0] == second.who[0] {
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

    /// A part of the kernel.
    fn part(&self, [_, part]: [u32; 2]) -> String {
        if self.kernel.specialized().is_none() {
            "the kernel".to_owned()
        } else if part == 0 {
            "the default part".to_owned()
        } else {
            format!("partition {part}")
        }
    }

    /// Who accesses memory.
    fn agent(&self, access: &Access) -> String {
        let part = self.part(access.who);
        match access.by {
            By::Threads => format!("the threads of {part}"),
            By::CpAsync => format!("`copy_async` of {part}"),
            By::AsyncCopy if access.does == Does::Reads => format!("a store of {part}"),
            By::AsyncCopy => format!("a copy of {part}"),
            By::TensorCores => format!("a product of {part}"),
        }
    }

    fn missed(&self, first: &Access, second: &Access, wait: Loc) -> Diagnostic {
        let memory = self.memory(&second.window);
        Code::WrongPhase
            .at(wait, "this wait is not for the phase in which the copy completes")
            .compare("phase", "the one that counts the bytes of the copy", "one that is over before")
            .place(first.at, "the copy starts here")
            .place(second.at, format!("{memory} is {} here", used(second)))
            .why(format!("a wait returns when the phase of its parity is over; the phases of a barrier have parity 0, 1, 0 and so on, and a new barrier counts as if one of parity 1 were over (PTX ISA, \"mbarrier.try_wait\")"))
    }

    fn race(&self, first: &Access, second: &Access) -> Diagnostic {
        let memory = self.memory(&second.window);
        let still = may(first);
        let same = first.who == second.who;
        let headline = format!(
            "{memory} is {} while {} may still {still} it",
            used(second),
            self.agent(first),
        );
        let between = if same {
            "a wait or a barrier between the two".to_owned()
        } else {
            format!(
                "a wait of {} on a barrier at which {} arrives afterwards",
                self.part(second.who),
                self.part(first.who),
            )
        };
        let here = format!("{} {} it here", self.agent(first), does(first));
        let waits = first.by == By::Threads && same;
        Code::Unordered
            .at(second.at, headline)
            .compare("", between, "nothing that orders them")
            .place(first.at, here)
            .why(if same {
                "threads and asynchronous operations run on their own: one thread may start a copy while others are not yet done with the memory (PTX ISA, \"Memory Consistency Model\")"
            } else {
                "the parts of a kernel run on their own: only barriers say how far the others are (PTX ISA, \"Memory Consistency Model\")"
            })
            .help_if(waits.then_some("sync();"))
    }

    fn between_blocks(&self, first: &Access, second: &Access) -> Diagnostic {
        let memory = self.memory(&second.window);
        let [one, other] = [second.who[0], first.who[0]];
        let headline = format!(
            "block {one} of the cluster {} {memory} while block {other} may still {} it",
            does(second),
            may(first),
        );
        Code::ClusterOrder
            .at(second.at, headline)
            .compare("", "a barrier of the cluster, or an mbarrier, between the two", "nothing that orders them")
            .place(first.at, format!("block {other} {} it here", does(first)))
            .why("the blocks of a cluster run on their own: one may be anywhere in the kernel while the other one accesses its memory (PTX ISA, \"barrier.cluster\")")
            .help("cluster::sync();")
    }

    fn too_often(&self, barrier: Barrier, at: Loc) -> Diagnostic {
        let named = self.barrier(barrier);
        let name = named.as_ref().map_or("the barrier".to_owned(), |(name, _)| format!("`{name}`"));
        let count = self.kernel.barriers[barrier.root].count;
        Code::Arrivals
            .at(at, format!("this arrives at {name} once more than a phase counts"))
            .compare("arrivals in a phase", count, format!("{} or more", count + 1))
            .place_if(named.map(|(_, at)| at), "the barrier is made here")
            .why(format!("the phase has all of its arrivals and waits for bytes; one more arrival belongs to no phase (PTX ISA, \"{MBARRIER}\")"))
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
                return Code::WrongPhase
                    .at(at, format!("this waits for a phase of {name} that never begins"))
                    .compare("parity", 1 - (parity & 1), parity)
                    .place_if(state.arrived, "the last phase ends with this arrival")
                    .why("a wait returns when the phase of its parity is over; the phases of a barrier have parity 0, 1, 0 and so on (PTX ISA, \"mbarrier.try_wait\")");
            }
        }
        let what = match waiting {
            Waiting::Phase { barrier, .. } => self
                .barrier(barrier)
                .map_or("a barrier".to_owned(), |(name, _)| format!("`{name}`")),
            Waiting::Named { .. } => "a named barrier".to_owned(),
            Waiting::Cluster { .. } => "the blocks of the cluster".to_owned(),
            Waiting::Parts => "the other parts".to_owned(),
        };
        let headline = format!("{} waits for {what} without end", self.part(who));
        let others = match other {
            Some((_, who)) => format!("{} waits as well", self.part(who)),
            None => "nobody is left who could".to_owned(),
        };
        let diagnostic = Code::Deadlock.at(at, headline).compare(
            "who ends this wait",
            "a part that can still arrive",
            others,
        );
        let diagnostic = match other {
            Some((at, who)) => diagnostic.place(at, format!("{} waits here", self.part(who))),
            None => diagnostic,
        };
        diagnostic.why(format!("a wait ends when all arrivals of its phase have come: if each of the others waits or has ended, none comes (PTX ISA, \"{MBARRIER}\")"))
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
        let diagnostic = if state.bytes > 0 {
            diagnostic.compare(
                "bytes",
                "as many as copies bring",
                format!("{} more are expected", state.bytes),
            )
        } else if state.bytes < 0 {
            diagnostic.compare(
                "bytes expected",
                "all that copies bring",
                format!("{} fewer", -state.bytes),
            )
        } else {
            diagnostic
        };
        let fewer = (state.missing > 0 && come > 0 && state.bytes == 0).then(|| {
            match self.kernel.barriers[barrier.root].ring {
                Some(ring) => format!("barriers({ring}, {come})"),
                None => format!("barrier({come})"),
            }
        });
        diagnostic
            .place_if(made, &format!("the barrier counts {} in a phase", counted(state.count as usize, "arrival")))
            .place_if(state.arrived, "the last arrival is here")
            .why(format!("a phase ends when all arrivals that the barrier counts, and all bytes that they expect, have come (PTX ISA, \"{MBARRIER}\")"))
            .help_if(fewer)
    }

    fn open(&self, access: &Access) -> Diagnostic {
        let memory = self.memory(&access.window);
        let (required, help) = match (access.by, access.does) {
            (By::AsyncCopy, Does::Reads) => ("a wait for the store", Some("tma::store_wait(0);")),
            _ => ("a wait for the barrier on which it completes", None),
        };
        Code::OpenAtEnd
            .at(access.at, format!("the kernel ends while {} may still {} {memory}", self.agent(access), may(access)))
            .compare("before the end", required, "none")
            .why("the memory of a block is given to another one when its threads have ended, whatever is still under way (PTX ISA, \"cp.async.bulk\")")
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

/// `reads` or `writes`.
fn does(access: &Access) -> &'static str {
    match access.does {
        Does::Reads => "reads",
        Does::Writes => "writes",
    }
}
