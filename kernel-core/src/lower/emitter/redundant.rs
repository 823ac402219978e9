//! Synchronising instructions that order nothing are left out.
//!
//! Schedules and lowering put a barrier where the operation at hand needs one, and programs say `sync()` where their authors expect an
//! exchange. Which barriers then stand beside one another, and which have nothing to order, shows in the finished instructions only: that of
//! an exchange, of an allocation and of the user are one kind there. What is left out, and why that is right:
//!
//! * **A barrier of the threads that run it**, if no access before it and none behind it are to the same memory with one of them a
//!   write. *Before* reaches back to the last barriers of the same threads on all paths, *behind* ahead to the next ones and to the end of the
//!   kernel. [`Touched`] says what instructions access, by the effects of their operations ([`crate::ir::Effects`]); what it does not know
//!   conflicts with everything, and so do signals to other threads behind the barrier. Beside another barrier, and before the end of the
//!   kernel, nothing is on one side. Instructions of `ptx!` count as what they are.
//! * **A barrier of the cluster** that has no access between it and another one, on all paths. The first and the last of a kernel stay: no
//!   block may be accessed before it has begun or when it has ended.
//! * **A wait for `cp.async`, or the end of a group**, where no copy can be in flight: ordinary loads and stores do the copies of this
//!   variant. An empty group that is older than all copies in flight changes no count.
//! * **A fence between generic writes and the async proxy**, if no path behind it comes to an operation of that proxy or to a signal to other
//!   threads than those that run it, or if the same fence follows in the same straight run of code before the thread does anything but to
//!   compute, load and store.
//! * **A wait for stores to tensor memory**, if the next wait in the same straight run of code covers it: nothing stands between but stores to
//!   other columns, and what only computes.
//! * **The end of a bulk group**, if the same thread ends another one in the same straight run of code with no wait between, and all waits
//!   of the kernel are for all groups: one group for several copies is done when all of them are.
//!
//! Barriers are decided one after the other, those of inner loops first, each with what was left out before it. So of two that cover one
//! another one stays. All else stays: what waits for mbarriers and products, the fences of tensor memory, and `bar.warp.sync` before one
//! lane arrives for all.

use super::Node;
use paths::{Does, Fact, Step, before, behind, depths};
use touched::{Copying, InFlight, copying, touched};

mod copies;
mod fences;
mod paths;
mod tensor_stores;
mod touched;

pub(crate) use touched::Touched;

/// Which threads meet at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meets {
    /// None, or some of which nothing is known.
    Nobody,
    /// Those that run what is emitted, and they do nothing else there.
    Crew,
    /// The same, but the instruction is there for more.
    CrewAndMore,
    /// Those of the cluster arrive, and wait in the next instruction.
    Cluster,
    /// They wait.
    ClusterWait,
}

/// Drops from the finished code what orders nothing; whether there was anything.
pub(super) fn drop_redundant(order: &mut Vec<Node>) -> bool {
    let mut dropped = vec![false; order.len()];
    copies::drop_idle(order, &mut dropped);
    copies::drop_bulk_groups(order, &mut dropped);
    tensor_stores::drop_covered(order, &mut dropped);
    let mut steps = steps(order, &dropped);
    fences::drop_unseen(order, &steps, &mut dropped);
    fences::drop_covered(order, &mut dropped);
    drop_barriers(&mut steps, Whose::Cluster, &mut dropped);
    drop_barriers(&mut steps, Whose::Crew, &mut dropped);
    let any = dropped.contains(&true);
    let mut dropped = dropped.into_iter();
    order.retain(|_| !dropped.next().unwrap_or(false));
    any
}

/// What barriers order, or one of them.
#[derive(Clone, Copy, Debug)]
enum Act {
    Touches(Touched),
    Meets(Meets),
}

impl Fact for Touched {
    fn or(mut self, other: Self) -> Self {
        self.add(other);
        self
    }
}

/// The steps that matter, without those that only compute.
fn steps(order: &[Node], dropped: &[bool]) -> Vec<Step<Act>> {
    let in_flight = in_flight(order);
    paths::steps(order, &mut |node, inst| {
        let touched = touched(&inst.instruction, inst.operation, &in_flight);
        if dropped[node] || inst.meets == Meets::Nobody && touched.is_nothing() {
            None
        } else if inst.meets == Meets::Nobody {
            Some(Act::Touches(touched))
        } else {
            Some(Act::Meets(inst.meets))
        }
    })
}

/// What asynchronous copies access, all together.
fn in_flight(order: &[Node]) -> InFlight {
    let mut all = InFlight::default();
    let none = InFlight::default();
    for node in order {
        let Node::Inst(inst) = node else { continue };
        let accessed = || touched(&inst.instruction, inst.operation, &none);
        match copying(&inst.instruction) {
            Some(Copying::CpAsync) => all.cp_async.add(accessed()),
            Some(Copying::Bulk) => all.bulk.add(accessed()),
            Some(
                Copying::CpAsyncCommit
                | Copying::CpAsyncWaitAll
                | Copying::CpAsyncWaitSome
                | Copying::Prefetch
                | Copying::BulkCommit
                | Copying::BulkWaitAll
                | Copying::BulkWaitSome,
            )
            | None => {}
        }
    }
    all
}

/// Whose barriers are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Crew,
    Cluster,
}

impl Whose {
    /// Whether these threads meet.
    fn meet(self, meets: Meets) -> bool {
        match meets {
            Meets::Crew | Meets::CrewAndMore => self == Whose::Crew,
            Meets::Cluster => true,
            Meets::Nobody | Meets::ClusterWait => false,
        }
    }

    /// Whether a barrier may be left out.
    fn may_drop(self, meets: Meets) -> bool {
        match self {
            Whose::Crew => meets == Meets::Crew,
            Whose::Cluster => meets == Meets::Cluster,
        }
    }

    /// What is before the start and behind the end of the kernel.
    fn outside(self) -> Touched {
        match self {
            Whose::Crew => Touched::default(),
            Whose::Cluster => Touched::ANYTHING,
        }
    }

    fn needs_order(self, before: Touched, behind: Touched) -> bool {
        match self {
            Whose::Crew => before.needs_order(behind),
            Whose::Cluster => !before.is_nothing() && !behind.is_nothing(),
        }
    }

    /// What the threads have done, or will do, on the other side of a step.
    fn cross(self, act: Act, touched: Touched) -> Touched {
        match act {
            Act::Touches(more) => touched.or(more),
            Act::Meets(meets) if self.meet(meets) => Touched::default(),
            Act::Meets(_) => touched,
        }
    }
}

/// Leaves out barriers one at a time, until all that are left are needed.
fn drop_barriers(steps: &mut Vec<Step<Act>>, whose: Whose, dropped: &mut [bool]) {
    loop {
        let cross = |act: &Act, touched| whose.cross(*act, touched);
        let before = before(steps, whose.outside(), &cross);
        let behind = behind(steps, whose.outside(), &cross);
        let depths = depths(steps);
        let is_redundant = |&at: &usize| {
            let [before, behind] = [&before, &behind].map(|side| side[at].unwrap_or_default());
            matches!(steps[at].does, Does::Acts(Act::Meets(meets)) if whose.may_drop(meets))
                && !whose.needs_order(before, behind)
        };
        let redundant = (0..steps.len()).filter(is_redundant);
        let Some(at) = redundant.min_by_key(|&at| (u32::MAX - depths[at], at)) else { return };
        dropped[steps.remove(at).node] = true;
        if whose == Whose::Cluster {
            // The wait follows the arrival.
            dropped[steps.remove(at).node] = true;
        }
    }
}
