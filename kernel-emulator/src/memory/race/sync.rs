//! How strong accesses and fences order threads (PTX ISA, "Memory Consistency Model: Release and acquire patterns", "Causality order").
//!
//! A release leaves a signal at its location: what its thread knew and did, and the scope. So does a relaxed write that follows a fence of
//! the same thread, with what the thread knew at the fence. An acquire learns the signals of its location, a relaxed read keeps them for a
//! fence of the same thread that follows. Either needs both sides in the scope of the other ("Morally strong operations").
//!
//! A write replaces the signals of other threads, an atomic operation keeps them: the chain of atomic operations behind a release hands it
//! on ("Observation order").

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use super::clock::{self, Clock};
use super::warps::Threads;
use crate::code::{MemoryScope, Order};

/// Who left a signal: cluster of the grid, block of the cluster, warp, lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Author {
    pub(super) cluster: u32,
    pub(super) threads: (u32, u32, u32),
}

impl Author {
    pub(crate) fn new(cluster: u32, threads: Threads) -> Author {
        Author { cluster, threads: (threads.block, threads.warp, threads.mask) }
    }

    /// Whether the other threads include these.
    fn within(self, other: Author) -> bool {
        let ((block, warp, mask), (in_block, in_warp, lanes)) = (self.threads, other.threads);
        (self.cluster, block, warp) == (other.cluster, in_block, in_warp) && mask & !lanes == 0
    }

    /// Threads of several warps.
    const SEVERAL: Author = Author { cluster: u32::MAX, threads: (0, 0, 0) };

    /// Whether two threads are in one scope. Where several left a signal, more is taken as ordered than is.
    fn shares(self, scope: MemoryScope, other: Author) -> bool {
        match scope {
            _ if self == Author::SEVERAL => true,
            MemoryScope::Cta => (self.cluster, self.threads.0) == (other.cluster, other.threads.0),
            MemoryScope::Cluster => self.cluster == other.cluster,
            MemoryScope::Gpu | MemoryScope::Sys => true,
        }
    }
}

/// What was handed on at a location. In the scope of the GPU, where any cluster may read it, its clock belongs to no cluster: it has an entry for each
/// cluster of which something is known.
#[derive(Clone, Debug)]
pub(crate) struct Signal {
    pub(super) author: Author,
    pub(super) scope: MemoryScope,
    pub(super) clock: Arc<Clock>,
}

impl Signal {
    /// The clock, as that of no cluster.
    fn of_no_cluster(&self) -> Arc<Clock> {
        Arc::new(self.clock.of_none(self.author.cluster))
    }

    /// Whether an observer in a scope is ordered by it.
    pub(super) fn reaches(&self, observer: Author, scope: MemoryScope) -> bool {
        self.author.shares(self.scope.min(scope), observer)
    }
}

/// The signals at one location.
#[derive(Debug, Default)]
pub(crate) struct Location(Vec<Signal>);

impl Location {
    /// A strong write of a thread leaves its signals, an atomic operation beside those that are there.
    fn leave(&mut self, author: Author, signals: Vec<Signal>, atomic: bool) {
        if !atomic {
            self.0.retain(|signal| signal.author.within(author));
        }
        for mut signal in signals {
            let wide = signal.scope >= MemoryScope::Gpu;
            if wide {
                (signal.scope, signal.clock) = (MemoryScope::Gpu, signal.of_no_cluster());
            }
            let same = |one: &&mut Signal| {
                one.scope == signal.scope && (wide || one.author == signal.author)
            };
            match self.0.iter_mut().find(same) {
                Some(one) if one.author == signal.author && !atomic => *one = signal,
                // Thousands of blocks may count at one location: what they hand on is kept together.
                Some(one) => {
                    Arc::make_mut(&mut one.clock).join(&signal.clock);
                    if one.author != signal.author {
                        one.author = Author::SEVERAL;
                    }
                }
                None => self.0.push(signal),
            }
        }
    }
}

/// Locations of one kind of memory, by address.
#[derive(Debug, Default)]
pub(crate) struct Locations(BTreeMap<u64, Location>);

impl Locations {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn leave(
        &mut self,
        address: u64,
        author: Author,
        (signals, atomic): (Vec<Signal>, bool),
    ) {
        // Nothing is kept where nobody ever handed anything on.
        if !signals.is_empty() || self.0.contains_key(&address) {
            self.0.entry(address).or_default().leave(author, signals, atomic);
        }
    }

    pub(crate) fn at(&self, address: u64) -> Vec<Signal> {
        self.0.get(&address).map(|location| location.0.clone()).unwrap_or_default()
    }
}

/// Shards of [`Board`]; a power of two.
const SHARDS: usize = 64;

/// The locations of global memory, which the clusters of a launch share.
#[derive(Debug)]
pub(crate) struct Board {
    shards: [Mutex<HashMap<u64, Location>>; SHARDS],
    /// Whether anything was ever left.
    used: AtomicBool,
}

impl Default for Board {
    fn default() -> Board {
        Board { shards: std::array::from_fn(|_| Mutex::default()), used: AtomicBool::new(false) }
    }
}

impl Board {
    fn shard(&self, address: u64) -> std::sync::MutexGuard<'_, HashMap<u64, Location>> {
        let index =
            usize::try_from(address / 4 % SHARDS as u64).expect("a shard has a small number");
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A strong write leaves its signals, before what it writes can be seen.
    pub(crate) fn leave(
        &self,
        address: u64,
        author: Author,
        (signals, atomic): (Vec<Signal>, bool),
    ) {
        if signals.is_empty() && !self.used.load(Relaxed) {
            return;
        }
        self.used.store(true, Relaxed);
        let mut shard = self.shard(address);
        if !signals.is_empty() || shard.contains_key(&address) {
            shard.entry(address).or_default().leave(author, signals, atomic);
        }
    }

    /// The signals at a location, after what is there was read.
    pub(crate) fn at(&self, address: u64) -> Vec<Signal> {
        if !self.used.load(Relaxed) {
            return Vec::new();
        }
        self.shard(address).get(&address).map(|location| location.0.clone()).unwrap_or_default()
    }
}

/// What lanes of one warp keep for operations to come.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Their fences: the lanes, the scope, what they knew and did by then.
    fences: Vec<(u32, MemoryScope, Arc<Clock>)>,
    /// Fences that hand on only some of what they knew and did.
    narrow: Vec<(u32, MemoryScope, Arc<Clock>)>,
    /// What relaxed reads saw, and of which scope they were.
    seen: Vec<(u32, MemoryScope, Signal)>,
    /// The last clock that was learned, by which lanes: who polls a flag mostly finds what was there before.
    learned: Option<(u32, Arc<Clock>)>,
}

impl Kept {
    /// Lanes executed a fence that releases, knowing and having done so much.
    pub(super) fn fence(&mut self, mask: u32, scope: MemoryScope, clock: Arc<Clock>) {
        for (lanes, of, _) in &mut self.fences {
            if *of <= scope {
                *lanes &= !mask;
            }
        }
        self.fences.retain(|(lanes, ..)| *lanes != 0);
        self.fences.push((mask, scope, clock));
    }

    /// Lanes executed a fence that hands on only so much.
    pub(super) fn narrow_fence(&mut self, mask: u32, scope: MemoryScope, clock: Clock) {
        let same = |one: &&mut (u32, MemoryScope, Arc<Clock>)| (one.0, one.1) == (mask, scope);
        match self.narrow.iter_mut().find(same) {
            Some((.., known)) => Arc::make_mut(known).join(&clock),
            None => self.narrow.push((mask, scope, Arc::new(clock))),
        }
    }

    /// What a relaxed write of lanes hands on: the scope, and what they knew and did at their fences.
    pub(super) fn fenced(&self, mask: u32) -> impl Iterator<Item = (MemoryScope, &Arc<Clock>)> {
        let fences = self.fences.iter().chain(&self.narrow);
        let of_lanes = fences.filter(move |(lanes, ..)| lanes & mask != 0);
        of_lanes.map(|(_, scope, clock)| (*scope, clock))
    }

    /// What relaxed reads of lanes saw, and of which scope they were.
    fn seen(&self, mask: u32) -> impl Iterator<Item = (MemoryScope, &Signal)> {
        let of_lanes = self.seen.iter().filter(move |(lanes, ..)| lanes & mask != 0);
        of_lanes.map(|(_, scope, signal)| (*scope, signal))
    }

    /// A relaxed read of lanes saw a signal.
    pub(super) fn see(&mut self, mask: u32, scope: MemoryScope, signal: Signal) {
        let like = |one: &&mut (u32, MemoryScope, Signal)| {
            let (lanes, of, known) = &**one;
            (*lanes, *of, known.author, known.scope) == (mask, scope, signal.author, signal.scope)
        };
        match self.seen.iter_mut().find(like) {
            Some((.., known)) if Arc::ptr_eq(&known.clock, &signal.clock) => {}
            Some((.., known)) => Arc::make_mut(&mut known.clock).join(&signal.clock),
            None => self.seen.push((mask, scope, signal)),
        }
    }

    /// Lanes execute a fence that acquires: what they saw, in whichever of the two scopes is smaller.
    pub(super) fn take_seen(
        &mut self,
        mask: u32,
        scope: MemoryScope,
    ) -> Vec<(MemoryScope, Signal)> {
        let of_lanes = self.seen.iter().filter(|(lanes, ..)| lanes & mask != 0);
        let found = of_lanes.map(|(_, of, signal)| (scope.min(*of), signal.clone())).collect();
        self.seen.retain(|(lanes, of, _)| lanes & !mask != 0 || *of > scope);
        found
    }
}

impl super::Races {
    /// The threads, as those who leave signals.
    pub(crate) fn author(&self, threads: Threads) -> Author {
        Author::new(self.cluster, threads)
    }

    /// What a strong write of threads hands on.
    pub(crate) fn signals(&mut self, threads: Threads, order: Order) -> Vec<Signal> {
        let Some(scope) = order.scope.filter(|_| self.enabled) else { return Vec::new() };
        let author = self.author(threads);
        let index = self.index(threads.block, threads.warp);
        let mut signals: Vec<Signal> = Vec::new();
        if order.releases {
            let mut clock = Clock::default();
            self.warps[index].release(threads.mask, &mut clock);
            signals.push(Signal { author, scope, clock: Arc::new(clock) });
        }
        for (of, clock) in self.kept[index].fenced(threads.mask) {
            let scope = scope.min(of);
            // A release hands on all that a fence before it would.
            if order.releases && signals[0].scope >= scope {
                continue;
            }
            match signals.iter_mut().find(|signal| signal.scope == scope) {
                Some(signal) => Arc::make_mut(&mut signal.clock).join(clock),
                None => signals.push(Signal { author, scope, clock: Arc::clone(clock) }),
            }
        }
        signals
    }

    /// A strong read of threads saw signals.
    pub(crate) fn observe(&mut self, threads: Threads, order: Order, signals: Vec<Signal>) {
        let Some(scope) = order.scope.filter(|_| self.enabled) else { return };
        let index = self.index(threads.block, threads.warp);
        for signal in signals {
            if order.acquires {
                self.acquire_signal(threads, scope, &signal);
            } else {
                self.kept[index].see(threads.mask, scope, signal);
            }
        }
    }

    /// Threads execute `fence.mbarrier_init`: relaxed arrivals that follow hand on which mbarriers they initialised.
    pub(crate) fn fence_inits(&mut self, threads: Threads) {
        if self.enabled {
            let index = self.index(threads.block, threads.warp);
            let (who, time) = (clock::stores(threads.block, threads.warp), self.inits[index]);
            let mut made = Clock::default();
            made.learn_lanes(who, threads.mask, time);
            self.kept[index].narrow_fence(threads.mask, MemoryScope::Cluster, made);
        }
    }

    /// Threads execute `tcgen05.fence::before_thread_sync`: relaxed writes that follow hand on what they know of tensor memory.
    pub(crate) fn fence_tensor_before(&mut self, threads: Threads) {
        if self.enabled {
            let index = self.index(threads.block, threads.warp);
            let fenced = self.warps[index].fence_tensor(threads);
            // What it is composed with decides the scope.
            self.kept[index].narrow_fence(threads.mask, MemoryScope::Sys, fenced);
        }
    }

    /// Threads execute `tcgen05.fence::after_thread_sync`: they learn what relaxed reads before it saw of tensor memory. What they know.
    pub(crate) fn fence_tensor_after(&mut self, threads: Threads) -> Clock {
        if !self.enabled {
            return Clock::default();
        }
        let (observer, index) = (self.author(threads), self.index(threads.block, threads.warp));
        let mut learned = Clock::default();
        for (scope, signal) in self.kept[index].seen(threads.mask) {
            if !signal.reaches(observer, scope) {
                continue;
            }
            if signal.scope >= MemoryScope::Gpu {
                learned.join(&signal.clock.within(self.cluster).of_tensor());
            } else {
                learned.join(&signal.clock.of_tensor());
            }
        }
        self.warps[index].acquire(threads, &learned);
        self.warps[index].of(threads.mask)
    }

    fn acquire_signal(&mut self, threads: Threads, scope: MemoryScope, signal: &Signal) {
        let observer = self.author(threads);
        if !signal.reaches(observer, scope) {
            return;
        }
        let index = self.index(threads.block, threads.warp);
        let same = |(mask, clock): &(u32, Arc<Clock>)| {
            *mask == threads.mask && Arc::ptr_eq(clock, &signal.clock)
        };
        if self.kept[index].learned.as_ref().is_some_and(same) {
            return;
        }
        if signal.scope >= MemoryScope::Gpu {
            self.warps[index].acquire(threads, &signal.clock.within(self.cluster));
        } else {
            self.warps[index].acquire(threads, &signal.clock);
        }
        self.kept[index].learned = Some((threads.mask, Arc::clone(&signal.clock)));
    }

    /// Threads execute a fence.
    pub(crate) fn fence(
        &mut self,
        threads: Threads,
        scope: MemoryScope,
        (releases, acquires): (bool, bool),
    ) {
        if !self.enabled {
            return;
        }
        let index = self.index(threads.block, threads.warp);
        if acquires {
            for (scope, signal) in self.kept[index].take_seen(threads.mask, scope) {
                self.acquire_signal(threads, scope, &signal);
            }
        }
        if releases {
            let mut clock = Clock::default();
            self.warps[index].release(threads.mask, &mut clock);
            self.kept[index].fence(threads.mask, scope, Arc::new(clock));
        }
    }

    /// What threads hand on that arrive relaxed, to those who are within a scope: what they knew and did at their fences of at least that scope.
    pub(crate) fn hand_on_fenced(&self, threads: Threads, to: MemoryScope, into: &mut Clock) {
        if self.enabled {
            let index = self.index(threads.block, threads.warp);
            for (_, clock) in self.kept[index].fenced(threads.mask).filter(|(of, _)| *of >= to) {
                into.join(clock);
            }
        }
    }

    /// Threads wait relaxed for what their own block handed on, and other blocks of the cluster: a fence that follows learns it.
    pub(crate) fn see(&mut self, threads: Threads, order: Order, (own, others): (&Clock, &Clock)) {
        let Some(scope) = order.scope.filter(|_| self.enabled) else { return };
        let index = self.index(threads.block, threads.warp);
        let author = self.author(threads);
        let elsewhere = Author { threads: (u32::MAX, 0, 0), ..author };
        for (author, clock) in [(author, own), (elsewhere, others)] {
            let clock = Arc::new(clock.clone());
            let signal = Signal { author, scope: MemoryScope::Cluster, clock };
            self.kept[index].see(threads.mask, scope, signal);
        }
    }
}
