//! What a wait covers: a phase ends by arrivals, and a partition that arrives may have waited on another barrier before.

use std::collections::{BTreeMap, BTreeSet};

use super::slots::{Slot, root};
use crate::{
    ir::{Announcement, BarrierOp, Barriers, Kernel, Op, Region, StmtKind, SyncOp, Value},
    loc::Loc,
};

/// A partition, by its number.
pub(super) type Agent = usize;

/// All warps of a block together, outside of partitions.
pub(super) const ALL: Agent = 0;

/// Which partition arrives at which barriers, and waits on which.
pub(super) struct Signals<'a> {
    kernel: &'a Kernel,
    /// The partitions by where they are written, and their numbers there.
    agents: BTreeMap<(Loc, usize), Agent>,
    arrivals: BTreeMap<Barriers, BTreeSet<Agent>>,
    waits: BTreeMap<Agent, BTreeSet<Barriers>>,
    /// Those that meet others at named barriers or at that of the cluster.
    meets: BTreeSet<Agent>,
    /// The barriers that each commits to.
    commits: BTreeMap<Agent, Vec<Value>>,
    /// The barriers by the value that an allocation gives.
    pub(super) made: BTreeMap<Barriers, Value>,
    /// Those that copies complete on.
    pub(super) counted: BTreeSet<Barriers>,
}

impl<'a> Signals<'a> {
    /// That of a kernel.
    pub(super) fn of(kernel: &'a Kernel) -> Self {
        let mut signals = Signals {
            kernel,
            agents: BTreeMap::new(),
            arrivals: BTreeMap::new(),
            waits: BTreeMap::new(),
            meets: BTreeSet::new(),
            commits: BTreeMap::new(),
            made: BTreeMap::new(),
            counted: BTreeSet::new(),
        };
        signals.region(&kernel.body, ALL);
        signals
    }

    /// Whether other partitions or blocks may signal.
    pub(super) fn has_others(&self) -> bool {
        !self.agents.is_empty() || self.kernel.cluster != [1; 3]
    }

    /// Whether any part waits on these barriers.
    pub(super) fn is_awaited(&self, root: Barriers) -> bool {
        self.waits.values().any(|waits| waits.contains(&root))
    }

    /// The partition of this number in the statement at `at`; the first is the default one.
    pub(super) fn agent(&self, at: Loc, number: usize) -> Agent {
        self.agents.get(&(at, number)).copied().unwrap_or(ALL)
    }

    fn region(&mut self, region: &Region, agent: Agent) {
        for stmt in &region.stmts {
            if let StmtKind::Op { op, args, result } = &stmt.kind {
                self.op(op, args, *result, agent);
            }
            let splits = matches!(stmt.kind, StmtKind::Specialize { .. });
            for (number, inner) in stmt.kind.regions().into_iter().enumerate() {
                let new = self.agents.len() + 1;
                let part = splits.then(|| *self.agents.entry((stmt.loc, number)).or_insert(new));
                self.region(inner, part.unwrap_or(agent));
            }
        }
    }

    fn op(&mut self, op: &Op, args: &[Value], result: Option<Value>, agent: Agent) {
        if let Op::Sync(SyncOp::Barrier(BarrierOp::Alloc(root))) = op {
            self.made.extend(result.map(|value| (*root, value)));
        }
        let effects = self.kernel.effects(op, args, result);
        let of = |barrier: Value| root(self.kernel, barrier);
        for wait in &effects.waits {
            if let Some(barrier) = wait.barrier() {
                self.waits.entry(agent).or_default().extend(of(barrier));
            } else if wait.meets_others() {
                self.meets.insert(agent);
            }
        }
        let announced = match effects.announces {
            Some(Announcement::Arrive(barrier)) => Some((barrier, false)),
            Some(Announcement::Expect(barrier)) => Some((barrier, true)),
            Some(Announcement::Commit { barrier, .. }) => {
                self.commits.entry(agent).or_default().push(barrier);
                Some((barrier, false))
            }
            Some(
                Announcement::Crew
                | Announcement::Named(_)
                | Announcement::Cluster
                | Announcement::CpAsyncGroup
                | Announcement::NextGrid,
            )
            | None => None,
        };
        let accesses = effects.accesses.iter();
        let completed = accesses.filter_map(|access| Some((access.done.barrier()?, true)));
        for (barrier, counts) in announced.into_iter().chain(completed) {
            let Some(root) = of(barrier) else { continue };
            self.arrivals.entry(root).or_default().insert(agent);
            if counts {
                self.counted.insert(root);
            }
        }
    }

    /// Whether `other` can signal `agent`: another partition, or the same one of another block. Each partition itself
    /// follows what all warps wait for.
    fn speaks(&self, other: Agent, agent: Agent) -> bool {
        other != agent && other != ALL || self.kernel.cluster != [1; 3]
    }

    /// The barriers that others have waited on, and the partitions that have signalled them, when they signal `agent`.
    fn heard(&self, agent: Agent, others: impl Iterator<Item = Agent>) -> BTreeSet<Barriers> {
        let mut heard = BTreeSet::new();
        let mut asked = BTreeSet::new();
        let mut open: Vec<Agent> = others.filter(|&other| self.speaks(other, agent)).collect();
        while let Some(other) = open.pop() {
            if !asked.insert(other) {
                continue;
            }
            if self.meets.contains(&other) {
                let met = self.waits.keys().copied();
                open.extend(met.filter(|&before| self.speaks(before, agent)));
            }
            for &root in self.waits.get(&other).into_iter().flatten() {
                heard.insert(root);
                let before = self.arrivals.get(&root).into_iter().flatten().copied();
                // The walk knows the waits of the partition itself.
                open.extend(before.filter(|&before| self.speaks(before, agent)));
            }
        }
        heard
    }

    /// Whether what was committed to one of `commits` is over when `agent` has waited for `waited`.
    pub(super) fn covers(
        &self,
        agent: Agent,
        waited: Slot,
        commits: impl IntoIterator<Item = Slot>,
    ) -> bool {
        let arrivals = self.arrivals.get(&waited.root).into_iter().flatten().copied();
        let heard = self.heard(agent, arrivals);
        commits.into_iter().any(|commit| commit.meets(waited) || heard.contains(&commit.root))
    }

    /// The same, when it has synchronised with others: at a named barrier, or with the blocks of its cluster.
    pub(super) fn covers_meeting(
        &self,
        agent: Agent,
        commits: impl IntoIterator<Item = Slot>,
    ) -> bool {
        let heard = self.heard(agent, self.waits.keys().copied());
        commits.into_iter().any(|commit| heard.contains(&commit.root))
    }

    /// Whether a partition waits on one of these.
    pub(super) fn awaits(&self, agent: Agent, barriers: &BTreeSet<Barriers>) -> bool {
        self.waits.get(&agent).is_some_and(|waits| !waits.is_disjoint(barriers))
    }

    /// What a partition commits to.
    pub(super) fn commits(&self, agent: Agent) -> &[Value] {
        self.commits.get(&agent).map_or(&[], Vec::as_slice)
    }
}
