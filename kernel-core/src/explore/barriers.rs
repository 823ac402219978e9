//! Barriers of a cluster: mbarriers, named ones, and that at which its blocks meet.

use la_arena::ArenaMap;

use super::{
    clock::{Clock, Component, Components},
    values::Barrier,
};
use crate::{
    ir::{Barriers, Kernel},
    loc::Loc,
};

/// An mbarrier.
pub(super) struct Mbarrier {
    /// Arrivals of a phase.
    pub(super) count: u32,
    /// Those that the current phase still waits for.
    pub(super) missing: u32,
    /// Bytes that it waits for, and those that copies have delivered.
    pub(super) expected: i128,
    pub(super) delivered: i128,
    /// How many phases are over.
    pub(super) phases: u32,
    /// What is over when the current phase is.
    pub(super) gathered: Clock,
    /// What is over when the last phase is.
    pub(super) released: Clock,
    /// Where the last arrival is.
    pub(super) arrived: Option<Loc>,
    /// Which waits for the phase before the current one the threads have left, and what of them has then been done.
    seen: Vec<Seen>,
    component: Component,
}

struct Seen {
    at: Loc,
    /// The phase that was not yet over when they left.
    current: u32,
    left: [(Component, u32); 2],
}

/// What is not as it has to be when threads arrive.
pub(super) enum Arrived {
    /// All is well.
    InOrder,
    /// The phase has all of its arrivals.
    TooOften,
    /// They do not know that the phase before is over.
    Early,
    /// The phase ends while others may not have seen the end of the one before.
    Unseen(Loc),
    /// The phase has no other arrivals, and never waited for bytes: the thread that arrives knows that it is over.
    Ended,
}

impl Mbarrier {
    /// Arrives, with what the threads know, as `count` arrivals.
    pub(super) fn arrive(&mut self, at: Loc, clocks: &[&Clock]) -> Arrived {
        self.arrived = Some(at);
        if self.missing == 0 {
            return Arrived::TooOften;
        }
        self.missing -= 1;
        let early = clocks.iter().any(|clock| clock.happened(self.component) < self.phases);
        for clock in clocks {
            self.gathered.join(clock);
        }
        let (with_bytes, phases) = (self.expected != 0 || self.delivered != 0, self.phases);
        match self.advance() {
            Some(at) => Arrived::Unseen(at),
            None if early => Arrived::Early,
            None if self.count == 1 && self.phases > phases && !with_bytes => Arrived::Ended,
            None => Arrived::InOrder,
        }
    }

    /// The current phase waits for these bytes as well.
    pub(super) fn expect(&mut self, bytes: i128) {
        self.expected += bytes;
    }

    /// Bytes arrive that a thread has started which knew `clock`.
    pub(super) fn deliver(&mut self, bytes: u64, clock: &Clock) -> Arrived {
        self.delivered += i128::from(bytes);
        let early = clock.happened(self.component) < self.phases;
        self.gathered.join(&clock.only_happened());
        match self.advance() {
            Some(at) => Arrived::Unseen(at),
            None if early => Arrived::Early,
            None => Arrived::InOrder,
        }
    }

    /// Ends the phase if nothing is missing; gives a wait for the phase before that threads may not have left.
    fn advance(&mut self) -> Option<Loc> {
        if self.missing > 0 || self.expected != self.delivered {
            return None;
        }
        let known = &self.gathered;
        let ended = self.phases;
        let unseen = self.seen.iter().find(|seen| {
            let left = |&(component, count): &(Component, u32)| known.happened(component) >= count;
            seen.current == ended && !seen.left.iter().all(left)
        });
        let unseen = unseen.map(|seen| seen.at);
        self.phases += 1;
        self.gathered.raise(self.component, self.phases);
        self.released.join(&self.gathered);
        self.missing = self.count;
        (self.expected, self.delivered) = (0, 0);
        self.seen.retain(|seen| seen.current > ended);
        unseen
    }

    /// Whether the phase of this parity is over (PTX ISA, "`mbarrier.test_wait`": `.parity`).
    pub(super) fn is_over(&self, parity: i128) -> bool {
        i128::from(self.phases & 1) != parity & 1
    }

    /// Threads have left a wait; `left` is what of them has then been done.
    pub(super) fn leave(&mut self, at: Loc, left: [(Component, u32); 2]) {
        self.seen.push(Seen { at, current: self.phases, left });
    }
}

/// A barrier at which threads meet.
pub(super) struct Meeting {
    /// How many have arrived.
    arrived: u32,
    /// How often all have.
    pub(super) met: u32,
    gathered: Clock,
    released: Clock,
    component: Component,
}

impl Meeting {
    fn new(start: &Clock, component: Component) -> Self {
        let (gathered, released) = (start.clone(), start.clone());
        Meeting { arrived: 0, met: 0, gathered, released, component }
    }

    /// So many arrive; gives whether all of them know that the meeting before is over.
    pub(super) fn arrive(&mut self, count: u32, clocks: [&Clock; 2]) -> bool {
        self.arrived += count;
        for clock in clocks {
            self.gathered.join(clock);
        }
        clocks.iter().all(|clock| clock.happened(self.component) >= self.met)
    }

    /// Begins the next meeting if as many have arrived as it takes.
    pub(super) fn meet(&mut self, all: u32) {
        if self.arrived >= all && self.arrived > 0 {
            self.arrived = 0;
            self.met += 1;
            self.gathered.raise(self.component, self.met);
            self.released.join(&self.gathered);
        }
    }

    /// What those know who have met.
    pub(super) fn known(&self) -> &Clock {
        &self.released
    }
}

/// All of them.
pub(super) struct All {
    first: ArenaMap<Barriers, u32>,
    of_a_block: u32,
    components: Components,
    mbarriers: Vec<Mbarrier>,
    /// Those of a block one after the other.
    pub(super) named: Vec<Meeting>,
    pub(super) cluster: Meeting,
}

impl All {
    pub(super) fn of(kernel: &Kernel, components: Components, blocks: u32) -> Self {
        let start = components.start();
        let mut first = ArenaMap::default();
        let mut of_a_block = 0;
        let mut counts = Vec::new();
        for (root, data) in kernel.barriers.iter() {
            let ring = data.ring.unwrap_or(1);
            first.insert(root, of_a_block);
            of_a_block += ring;
            counts.extend((0..ring).map(|_| data.count));
        }
        let mut mbarriers = Vec::new();
        for block in 0..blocks {
            for (number, &count) in (0..).zip(&counts) {
                mbarriers.push(Mbarrier {
                    count,
                    missing: count,
                    expected: 0,
                    delivered: 0,
                    phases: 0,
                    gathered: start.clone(),
                    released: start.clone(),
                    arrived: None,
                    seen: Vec::new(),
                    component: components.barrier(block, number),
                });
            }
        }
        let count = u32::try_from(kernel.named.len()).unwrap_or(u32::MAX);
        let named = (0..blocks)
            .flat_map(|block| (0..count).map(move |number| components.named(block, number)));
        let named = named.map(|component| Meeting::new(&start, component)).collect();
        All {
            first,
            of_a_block,
            components,
            mbarriers,
            named,
            cluster: Meeting::new(&start, components.cluster()),
        }
    }

    /// The number of a barrier among those of its block.
    fn number(&self, barrier: Barrier) -> u32 {
        self.first.get(barrier.root).copied().unwrap_or(0) + barrier.index
    }

    pub(super) fn component(&self, barrier: Barrier) -> Component {
        self.components.barrier(barrier.block, self.number(barrier))
    }

    pub(super) fn at(&self, barrier: Barrier) -> &Mbarrier {
        &self.mbarriers[(barrier.block * self.of_a_block + self.number(barrier)) as usize]
    }

    pub(super) fn at_mut(&mut self, barrier: Barrier) -> &mut Mbarrier {
        let number = (barrier.block * self.of_a_block + self.number(barrier)) as usize;
        &mut self.mbarriers[number]
    }
}
