//! What each warp of a block knows of what others did, lane by lane where lanes know different things.

use super::clock::{Clock, Epoch, LAST, WHOLE, warp};
use crate::code::MemoryScope;

/// Lanes of a warp that do something together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads {
    /// The block, in its cluster.
    pub(crate) block: u32,
    /// The warp, in its block.
    pub(crate) warp: u32,
    /// The lanes.
    pub(crate) mask: u32,
    /// The lanes of the warp that have not left the kernel.
    pub(crate) live: u32,
}

impl Threads {
    /// Whether they are all that are left of the warp.
    fn all(self) -> bool {
        self.live & !self.mask == 0
    }
}

/// Whether an earlier access happens before a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Ordered,
    Unordered,
    /// Several lanes share the word: each byte has an answer of its own.
    ByLane,
}

/// What a warp knows.
#[derive(Debug)]
pub(super) struct Known {
    /// The warp, as a participant.
    who: u32,
    /// What every lane knows. Of the warp itself: up to where each lane knows what the others did.
    all: Clock,
    /// The warp's time: of all that its lanes do from now on.
    now: u32,
    /// How often lanes handed something on.
    handed_on: u32,
    /// The lanes that did something since all lanes met.
    active: u32,
    /// What only some lanes know, as masks.
    some: Vec<(u32, Clock)>,
}

impl Known {
    /// A warp that knows of nothing but of the start of its block, at the first time of the block's first warp.
    pub(super) fn new(block: u32, index: u32) -> Known {
        let mut all = Clock::default();
        all.learn(warp(block, 0), 1);
        Known { who: warp(block, index), all, now: 2, handed_on: 0, active: 0, some: Vec::new() }
    }

    /// What warps of a block know and did together.
    pub(super) fn of_all(block: u32, warps: &mut [Known]) -> Known {
        let mut known = Known::new(block, 0);
        for warp in warps {
            warp.release(u32::MAX, &mut known.all);
        }
        known
    }

    /// The warp, as a participant.
    #[inline]
    pub(super) fn who(&self) -> u32 {
        self.who
    }

    #[inline]
    pub(super) fn now(&self) -> u32 {
        self.now
    }

    /// Lanes do something that others may have to know of.
    #[inline]
    pub(super) fn act(&mut self, mask: u32) {
        self.active |= mask;
    }

    /// Whether every lane knows all that a participant did up to a time.
    #[inline]
    pub(super) fn knows_all(&self, who: u32, time: u32) -> bool {
        self.all.time(who) >= time
    }

    /// Whether an earlier access happens before what comes next. Of lanes that count as one that may have an answer each.
    #[inline]
    pub(super) fn judge(&self, now: Epoch, earlier: Epoch) -> Verdict {
        let (who, lane, group) = (earlier.who(), earlier.lane(), earlier.group());
        let own = who == self.who && (group == WHOLE || (lane, group) == (now.lane(), now.group()));
        if own || self.knows_all(who, earlier.time()) {
            return Verdict::Ordered;
        }
        if earlier.is_shared() || now.is_shared() {
            return Verdict::ByLane;
        }
        // What the whole warp did is over when all of its lanes are known to be behind it.
        let knows = |clock: &Clock| match group {
            WHOLE => clock.time(who) >= earlier.time(),
            _ => clock.knows_lane(who, lane, earlier.time()),
        };
        let some = |(mask, clock): &(u32, Clock)| mask & now.lanes() != 0 && knows(clock);
        if knows(&self.all) || self.some.iter().any(some) {
            Verdict::Ordered
        } else {
            Verdict::Unordered
        }
    }

    /// The same for an access of one lane alone.
    pub(super) fn ordered(&self, now: Epoch, earlier: Epoch) -> bool {
        self.judge(now, earlier) == Verdict::Ordered
    }

    /// Lanes execute a proxy fence: what they know and did is known to the asynchronous proxy, for who learns of the fence.
    pub(super) fn fence_proxy(&mut self, threads: Threads) {
        let mut fenced = self.of(threads.mask);
        fenced.learn_lanes(self.who, threads.mask, self.now);
        fenced.fence_proxy();
        self.acquire(threads, &fenced);
        self.advance();
    }

    /// Lanes release to the tensormap proxy what they know and did, for who learns of it in a scope.
    pub(super) fn release_maps(&mut self, threads: Threads, scope: MemoryScope) {
        let mut released = self.of(threads.mask);
        released.learn_lanes(self.who, threads.mask, self.now);
        released.release_maps(scope);
        self.acquire(threads, &released);
        self.advance();
    }

    /// Lanes execute `tcgen05.fence::before_thread_sync`: what they know of tensor memory from here on.
    pub(super) fn fence_tensor(&mut self, threads: Threads) -> Clock {
        let mut fenced = self.of(threads.mask).of_tensor();
        fenced.fence_tensor(self.who, self.now);
        self.acquire(threads, &fenced);
        self.advance();
        fenced
    }

    /// Whether a lane knows what a lane of a participant did up to a time.
    pub(super) fn knows(&self, lane: usize, (who, of): (u32, usize), time: u32) -> bool {
        let knows = |clock: &Clock| clock.knows_lane(who, of, time);
        knows(&self.all)
            || self.some.iter().any(|(mask, clock)| mask >> lane & 1 != 0 && knows(clock))
    }

    /// Whether a lane knows what a lane of another cluster did up to a time.
    pub(super) fn knows_elsewhere(
        &self,
        lane: usize,
        cluster: u32,
        (who, of): (u32, usize),
        time: u32,
    ) -> bool {
        let knows = |clock: &Clock| {
            clock.other(cluster).is_some_and(|clock| clock.knows_lane(who, of, time))
        };
        knows(&self.all)
            || self.some.iter().any(|(mask, clock)| mask >> lane & 1 != 0 && knows(clock))
    }

    /// What these lanes know, each of them something of it.
    pub(super) fn of(&self, mask: u32) -> Clock {
        let mut clock = self.all.clone();
        for (_, known) in self.some.iter().filter(|(lanes, _)| lanes & mask != 0) {
            clock.join(known);
        }
        clock
    }

    /// What lanes know and did, to be handed on; what they do from here on is not part of it.
    pub(super) fn release(&mut self, mask: u32, into: &mut Clock) {
        into.join(&self.all);
        for (_, known) in self.some.iter().filter(|(lanes, _)| lanes & mask != 0) {
            into.join(known);
        }
        if self.active & !mask == 0 {
            into.learn(self.who, self.now);
        } else if self.active & mask != 0 {
            into.learn_lanes(self.who, mask, self.now);
        }
        self.handed_on += 1;
        self.advance();
    }

    /// How often lanes handed something on.
    pub(super) fn handed_on(&self) -> u32 {
        self.handed_on
    }

    /// What lanes do from here on is told apart from what they did.
    pub(super) fn advance(&mut self) {
        self.now = (self.now + 1).min(LAST);
    }

    /// Lanes learn what was handed on.
    pub(super) fn acquire(&mut self, threads: Threads, from: &Clock) {
        if threads.all() {
            self.all.join(from);
            return;
        }
        match self.some.iter_mut().find(|(mask, _)| *mask == threads.mask) {
            Some((_, known)) => known.join(from),
            None => self.some.push((threads.mask, from.clone())),
        }
    }

    /// Lanes meet: each knows from here on what the others knew and did.
    pub(super) fn meet(&mut self, threads: Threads) {
        // Lanes that have left the kernel meet nobody any more.
        if threads.all() && self.active & !threads.mask == 0 {
            if self.active == 0 && self.some.is_empty() {
                return;
            }
            for (_, known) in std::mem::take(&mut self.some) {
                self.all.join(&known);
            }
            self.all.learn(self.who, self.now);
            self.active = 0;
            self.advance();
        } else if threads.mask.count_ones() > 1 {
            let mut met = Clock::default();
            self.release(threads.mask, &mut met);
            self.acquire(threads, &met);
        }
    }
}
