//! Times of the participants of a cluster, and what is known of them and of other clusters.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::code::MemoryScope;

/// The most warps of a block.
const WARPS: u32 = 32;
/// Those who write besides the warps: the asynchronous copies that one mbarrier of the block counts the bytes of. Blocks with more
/// mbarriers share them.
pub(super) const AGENTS: u32 = 32;
/// The warps and agents of a block; of each warp the initialisations of mbarriers and, at later times, the copies out of shared memory; and of each
/// warp the proxy fences: up to when what it did through the generic proxy is known to the asynchronous one.
const BLOCK: u32 = WARPS + AGENTS + 2 * WARPS;
/// Where the initialisations and copies out of shared memory begin among the participants of a block, and the fences.
const STORES: u32 = WARPS + AGENTS;
const FENCES: u32 = STORES + WARPS;
/// Threads of a cluster whose operations on tensor memory count as participants; those of further ones share them.
const TENSORS: u32 = 16;
/// The participants before those of the blocks.
const FIRST: u32 = TENSORS;

/// Bits of an [`Epoch`]: whether the access was atomic, an instruction's index, a time, how many lanes share the word as a power of two, a
/// lane, a participant.
const ATOMIC_BITS: u32 = 1;
const PC_BITS: u32 = 19;
const TIME_BITS: u32 = 26;
const GROUP_BITS: u32 = 2;
const LANE_BITS: u32 = 5;
pub(super) const WHO_BITS: u32 = 64 - ATOMIC_BITS - PC_BITS - TIME_BITS - GROUP_BITS - LANE_BITS;

/// In place of how many lanes share a word: the whole warp accesses it, and all lanes are done when the instruction is.
pub(super) const WHOLE: u32 = 3;

/// In place of an instruction: the block starts.
const START: u32 = (1 << PC_BITS) - 1;

/// The last time: a warp that hands on more often is not told apart any more, so that races are missed and none is invented.
pub(super) const LAST: u32 = (1 << TIME_BITS) - 1;

/// The time before that of a warp's first copy out of shared memory: who learns of a copy may count as knowing all initialisations of mbarriers.
pub(super) const INITS: u32 = LAST / 2;

/// Who accessed memory, when on that participant's own clock, and with which instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Epoch(u64);

/// Of lanes that access words together, those that access a byte of one.
pub(super) const fn lanes_of_byte(group: u32, byte: usize) -> u32 {
    match group {
        0 | WHOLE => u32::MAX,
        1 => 0x5555_5555 << (byte / 2),
        _ => 0x1111_1111 << byte,
    }
}

impl Epoch {
    /// Nobody. A participant's time starts at 1.
    pub(crate) const NONE: Epoch = Epoch(0);
    /// No access: the word is split into its bytes.
    pub(super) const SPLIT: Epoch = Epoch(u64::MAX);
    /// The bits that say who, and when.
    const ACT: u64 = {
        let who = u64::MAX << (64 - WHO_BITS);
        let time = ((1 << TIME_BITS) - 1) << (ATOMIC_BITS + PC_BITS);
        who | time
    };

    /// An access of a lane of a participant; the lane is the first of 1, 2 or 4 (`group` 0, 1 or 2) that access the word together.
    #[inline]
    pub(super) fn new((who, lane): (u32, usize), group: u32, (time, pc): (u32, u32)) -> Epoch {
        // An instruction far behind in an enormous kernel is not named; the last index stands for it.
        let pc = pc.min(START - 1);
        let who = u64::from(who) << LANE_BITS | lane as u64;
        let when = (who << GROUP_BITS | u64::from(group)) << TIME_BITS | u64::from(time);
        Epoch((when << PC_BITS | u64::from(pc)) << ATOMIC_BITS)
    }

    /// The same access, as an atomic one.
    pub(super) fn atomic(self) -> Epoch {
        Epoch(self.0 | 1)
    }

    /// Whether one participant did both at one time: who knows of all that it did by then knows of either.
    #[inline]
    pub(super) fn with_act(self, other: Epoch) -> bool {
        (self.0 ^ other.0) & Epoch::ACT == 0
    }

    /// The bits.
    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    /// The epoch of some bits, which are one's.
    pub(super) const fn of_bits(bits: u64) -> Epoch {
        Epoch(bits)
    }

    /// Whether it is an access, of the whole word.
    pub(super) fn is_somebody(self) -> bool {
        self != Epoch::NONE && self != Epoch::SPLIT
    }

    /// Whether it is an atomic access.
    pub(super) fn is_atomic(self) -> bool {
        self.0 & 1 != 0
    }

    /// A block starts: the first time of its first warp.
    pub(super) fn start(block: u32) -> Epoch {
        let start = Epoch::new((warp(block, 0), 0), 0, (1, 0));
        Epoch(start.0 | u64::from(START) << ATOMIC_BITS)
    }

    /// Whether it is the start of a block and no access.
    pub(super) fn is_start(self) -> bool {
        self != Epoch::SPLIT && self.pc() == START
    }

    /// The bits from a place on.
    #[inline]
    fn field(self, from: u32, bits: u32) -> u32 {
        u32::try_from(self.0 >> from & ((1 << bits) - 1)).expect("a field has at most 32 bits")
    }

    /// The participant: a warp, or behind the warps an agent.
    #[inline]
    pub(super) fn who(self) -> u32 {
        self.field(64 - WHO_BITS, WHO_BITS)
    }

    /// The first of the lanes.
    #[inline]
    pub(super) fn lane(self) -> usize {
        self.field(ATOMIC_BITS + PC_BITS + TIME_BITS + GROUP_BITS, LANE_BITS) as usize
    }

    /// All of the lanes.
    #[inline]
    pub(super) fn lanes(self) -> u32 {
        if self.group() == WHOLE {
            return u32::MAX;
        }
        ((1 << (1 << self.group())) - 1) << self.lane()
    }

    /// How many lanes access the word together, as a power of two.
    #[inline]
    pub(super) fn group(self) -> u32 {
        self.field(ATOMIC_BITS + PC_BITS + TIME_BITS, GROUP_BITS)
    }

    /// Whether several lanes share the word, each with bytes of its own.
    #[inline]
    pub(super) fn is_shared(self) -> bool {
        !matches!(self.group(), 0 | WHOLE)
    }

    /// The access of the lane that accesses a byte of the word.
    pub(super) fn of_byte(self, byte: usize) -> Epoch {
        if self == Epoch::NONE || !self.is_shared() {
            return self;
        }
        let lane = self.lane() + (byte >> (2 - self.group()));
        let alone = Epoch::new((self.who(), lane), 0, (self.time(), self.pc()));
        Epoch(alone.0 | self.0 & 1)
    }

    /// The same access by lanes that count as one, from that of the first.
    pub(super) fn together(self, group: u32) -> Epoch {
        let epoch = Epoch::new((self.who(), self.lane()), group, (self.time(), self.pc()));
        Epoch(epoch.0 | self.0 & 1)
    }

    #[inline]
    pub(super) fn time(self) -> u32 {
        self.field(ATOMIC_BITS + PC_BITS, TIME_BITS)
    }

    pub(super) fn pc(self) -> u32 {
        self.field(ATOMIC_BITS, PC_BITS)
    }

    /// All of it but the instruction.
    #[inline]
    pub(super) fn without_pc(self) -> u64 {
        self.0 >> (ATOMIC_BITS + PC_BITS)
    }

    /// Whether the same lanes of one participant did both.
    #[inline]
    pub(super) fn is_by(self, other: Epoch) -> bool {
        const WHEN: u32 = ATOMIC_BITS + PC_BITS + TIME_BITS;
        (self.0 ^ other.0) >> WHEN == 0
    }

    /// The same access of a lane so many behind.
    #[inline]
    pub(super) fn moved(self, lanes: usize) -> Epoch {
        Epoch(self.0 + ((lanes as u64) << (ATOMIC_BITS + PC_BITS + TIME_BITS + GROUP_BITS)))
    }

    /// The same access of lane 0.
    #[inline]
    pub(super) fn of_warp(self) -> Epoch {
        const LANES: u64 =
            ((1 << LANE_BITS) - 1) << (ATOMIC_BITS + PC_BITS + TIME_BITS + GROUP_BITS);
        Epoch(self.0 & !LANES)
    }

    /// Whether it is the same access but for the instruction and its strength.
    #[inline]
    pub(super) fn is_of(self, other: Epoch) -> bool {
        self.without_pc() == other.without_pc()
    }

    /// Whether both are atomic, or lanes of one warp did both with one instruction and without meeting between.
    pub(super) fn beside(self, other: Epoch) -> bool {
        self.is_atomic() && other.is_atomic()
            || (self.who(), self.time(), self.pc()) == (other.who(), other.time(), other.pc())
    }

    /// Whether it is a weak access of the lane that makes a strong one now, and nobody can have learned of it between: others race with it still.
    pub(super) fn weaker(self, now: Epoch) -> bool {
        now.is_atomic() && !self.is_atomic() && self.is_of(now)
    }

    /// Whether it is an asynchronous copy, or an operation of the tensor cores, and no warp.
    pub(super) fn is_copy(self) -> bool {
        self != Epoch::SPLIT && self != Epoch::NONE && !is_warp(self.who()) && !self.is_init()
    }

    /// Whether it initialised an mbarrier.
    pub(super) fn is_init(self) -> bool {
        self != Epoch::SPLIT
            && self.who() >= FIRST
            && (self.who() - FIRST) % BLOCK >= STORES
            && self.time() <= INITS
    }

    /// The block, and its warp or agent.
    pub(super) fn place(self) -> (u32, u32) {
        let (block, index) = place_of(self.who());
        (block, if self.is_init() { index - STORES } else { index })
    }
}

/// The block of a participant, and its warp or agent.
pub(super) const fn place_of(who: u32) -> (u32, u32) {
    let who = who.saturating_sub(FIRST);
    (who / BLOCK, who % BLOCK)
}

/// What is known of the lanes of one warp, beyond what is known of all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lanes {
    warp: u32,
    times: [u32; 32],
}

/// A vector clock: of every participant, the time up to which all that it did is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    /// As far as anything is known of a participant or of one behind it.
    times: Vec<u32>,
    /// Of warps of which more is known of some lanes than of others, which is rare.
    lanes: Vec<Lanes>,
    /// What is known of other clusters of the grid, by number: clocks of their own, without others.
    others: BTreeMap<u32, Arc<Clock>>,
    /// What is known of tensor memory, by releases or between its fences: of each thread that issues operations, the last one that is complete; then of each warp, the time of
    /// its last `tcgen05.fence::before_thread_sync`.
    tensor: Vec<u32>,
    /// What is known to be released to the tensormap proxy, which is nothing but where a kernel changes tensor maps.
    maps: Option<Box<Released>>,
}

/// What threads did through the generic proxy that is released to the tensormap proxy: for those of the same cluster, and for all. Clocks without other
/// clusters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Released {
    near: Clock,
    far: Clock,
}

impl Clock {
    /// The time up to which all is known that a participant did.
    #[inline]
    pub(crate) fn time(&self, who: u32) -> u32 {
        self.times.get(who as usize).copied().unwrap_or(0)
    }

    /// Everything of a participant up to a time is known.
    #[inline]
    pub(super) fn learn(&mut self, who: u32, time: u32) {
        learn(&mut self.times, who, time);
    }

    /// Everything of some lanes of a warp up to a time is known.
    #[cold]
    pub(super) fn learn_lanes(&mut self, warp: u32, mask: u32, time: u32) {
        let index = self.lanes.iter().position(|lanes| lanes.warp == warp).unwrap_or_else(|| {
            self.lanes.push(Lanes { warp, times: [0; 32] });
            self.lanes.len() - 1
        });
        for lane in crate::machine::warp::lanes(mask) {
            let known = &mut self.lanes[index].times[lane];
            *known = time.max(*known);
        }
    }

    /// Whether everything is known that a lane of a participant did up to a time.
    #[inline]
    pub(super) fn knows_lane(&self, who: u32, lane: usize, time: u32) -> bool {
        time <= self.time(who)
            || !self.lanes.is_empty()
                && self.lanes.iter().any(|one| one.warp == who && one.times[lane] >= time)
    }

    /// Whether something is known that some lane of a participant did at a time.
    pub(crate) fn reaches(&self, who: u32, time: u32) -> bool {
        let some = |one: &Lanes| one.warp == who && one.times.iter().any(|known| *known >= time);
        self.time(who) >= time || self.lanes.iter().any(some)
    }

    /// What is known of warps is known to the asynchronous proxy as well.
    pub(super) fn fence_proxy(&mut self) {
        for who in warps_below(self.times.len()) {
            let time = self.time(who);
            if time > self.time(fences(who)) {
                self.learn(fences(who), time);
            }
        }
        let of_warps = |one: &&Lanes| is_warp(one.warp);
        let fenced = |one: &Lanes| Lanes { warp: fences(one.warp), times: one.times };
        let partly: Vec<Lanes> = self.lanes.iter().filter(of_warps).map(fenced).collect();
        if !partly.is_empty() {
            self.join(&Clock { lanes: partly, ..Clock::default() });
        }
        for other in self.others.values_mut() {
            Arc::make_mut(other).fence_proxy();
        }
    }

    /// Learns what another clock knows.
    pub(crate) fn join(&mut self, from: &Clock) {
        join(&mut self.times, &from.times);
        join(&mut self.tensor, &from.tensor);
        if let Some(from) = &from.maps {
            let maps = self.maps.get_or_insert_default();
            maps.near.join(&from.near);
            maps.far.join(&from.far);
        }
        for from in &from.lanes {
            match self.lanes.iter_mut().find(|to| to.warp == from.warp) {
                Some(to) => {
                    for (to, from) in to.times.iter_mut().zip(&from.times) {
                        *to = (*to).max(*from);
                    }
                }
                None => self.lanes.push(from.clone()),
            }
        }
        for (cluster, from) in &from.others {
            self.learn_other(*cluster, from);
        }
        let Clock { times, lanes, .. } = self;
        let known = |one: &Lanes| times.get(one.warp as usize).copied().unwrap_or(0);
        lanes.retain(|one| one.times.iter().any(|time| *time > known(one)));
    }

    /// Learns what is known of another cluster.
    fn learn_other(&mut self, cluster: u32, from: &Arc<Clock>) {
        let known = self.others.entry(cluster).or_insert_with(|| Arc::clone(from));
        if !Arc::ptr_eq(known, from) && **known != **from {
            Arc::make_mut(known).join(from);
        }
    }

    /// What is known of another cluster.
    pub(super) fn other(&self, cluster: u32) -> Option<&Clock> {
        self.others.get(&cluster).map(|clock| &**clock)
    }

    /// The clock of a cluster, as that of none: what it knows of its own it knows of another one.
    pub(super) fn of_none(&self, cluster: u32) -> Clock {
        let own = Clock { others: BTreeMap::new(), ..self.clone() };
        let mut clock = Clock { others: self.others.clone(), ..Clock::default() };
        clock.learn_other(cluster, &Arc::new(own));
        clock
    }

    /// Whether more is released to the tensormap proxy within the cluster than to all.
    fn has_near_maps(&self) -> bool {
        self.maps.as_ref().is_some_and(|maps| maps.near != maps.far)
    }

    /// What is released to the tensormap proxy within the cluster alone is nothing to others.
    fn forget_near_maps(&mut self) {
        if let Some(maps) = &mut self.maps {
            maps.near.clone_from(&maps.far);
        }
    }

    /// All that is known is released to the tensormap proxy, in a scope.
    pub(super) fn release_maps(&mut self, scope: MemoryScope) {
        let (times, lanes) = (self.times.clone(), self.lanes.clone());
        let known = Clock { times, lanes, ..Clock::default() };
        let maps = self.maps.get_or_insert_default();
        maps.near.join(&known);
        if scope >= MemoryScope::Gpu {
            maps.far.join(&known);
        }
        for other in self.others.values_mut() {
            Arc::make_mut(other).release_maps(scope);
        }
    }

    /// Whether it is known that what a lane of a participant did up to a time is released to the tensormap proxy.
    pub(super) fn knows_released(&self, who: u32, lane: usize, time: u32) -> bool {
        self.maps.as_ref().is_some_and(|maps| maps.near.knows_lane(who, lane, time))
    }

    /// What it says of releases to the tensormap proxy, and nothing else.
    pub(super) fn of_maps(&self) -> Clock {
        let others = self.others.iter().filter(|(_, other)| other.maps.is_some());
        let others = others.map(|(cluster, other)| (*cluster, Arc::new(other.of_maps()))).collect();
        Clock { maps: self.maps.clone(), others, ..Clock::default() }
    }

    /// The clock of no cluster, as that of one.
    pub(super) fn within(&self, cluster: u32) -> Clock {
        let mut others = self.others.clone();
        let own = others.remove(&cluster);
        for other in others.values_mut().filter(|other| other.has_near_maps()) {
            Arc::make_mut(other).forget_near_maps();
        }
        Clock { others, ..own.map(|own| (*own).clone()).unwrap_or_default() }
    }

    /// Operations on tensor memory up to a number, of a thread with an index, are complete.
    pub(crate) fn completed(&mut self, thread: u32, number: u32) {
        self.learn(tensor(thread), number);
        learn(&mut self.tensor, thread % TENSORS, number);
    }

    /// Whether it is known that an operation on tensor memory is complete.
    pub(crate) fn knows_completed(&self, thread: u32, number: u32) -> bool {
        self.tensor.get((thread % TENSORS) as usize).is_some_and(|known| *known >= number)
    }

    /// A warp, as a participant, executed `tcgen05.fence::before_thread_sync` at a time.
    pub(super) fn fence_tensor(&mut self, warp: u32, time: u32) {
        learn(&mut self.tensor, fence_of_tensor(warp), time);
    }

    /// Whether a fence is known that a warp, as a participant, executed for tensor memory at a time or later.
    pub(crate) fn knows_fence(&self, warp: u32, time: u32) -> bool {
        self.tensor.get(fence_of_tensor(warp) as usize).is_some_and(|known| *known >= time)
    }

    /// What it says of tensor memory, and nothing else.
    pub(super) fn of_tensor(&self) -> Clock {
        Clock { tensor: self.tensor.clone(), ..Clock::default() }
    }
}

/// In place of the number of a cluster: the grid before, which is over at the first time of its first participant.
const GRID_BEFORE: u32 = u32::MAX;

impl Clock {
    /// That the grid before is over.
    pub(super) fn of_grid_before() -> Clock {
        let over = Clock { times: vec![1], ..Clock::default() };
        Clock { others: BTreeMap::from([(GRID_BEFORE, Arc::new(over))]), ..Clock::default() }
    }

    /// Whether the grid before is known to be over.
    pub(super) fn knows_grid_before(&self) -> bool {
        self.others.contains_key(&GRID_BEFORE)
    }
}

/// The participant that stands for a thread's operations on tensor memory.
pub(super) const fn tensor(thread: u32) -> u32 {
    thread % TENSORS
}

/// Raises one of some times.
#[inline]
fn learn(times: &mut Vec<u32>, index: u32, time: u32) {
    if times.len() <= index as usize {
        times.resize(index as usize + 1, 0);
    }
    let known = &mut times[index as usize];
    *known = time.max(*known);
}

/// Raises times to others.
fn join(times: &mut Vec<u32>, from: &[u32]) {
    if times.len() < from.len() {
        times.resize(from.len(), 0);
    }
    for (to, from) in times.iter_mut().zip(from) {
        *to = (*to).max(*from);
    }
}

/// Where the fences of a warp, a participant, stand among what is known of tensor memory.
const fn fence_of_tensor(warp: u32) -> u32 {
    let (block, index) = place_of(warp);
    TENSORS + block * WARPS + index
}

/// The participant that is a warp of a block.
pub(crate) const fn warp(block: u32, warp: u32) -> u32 {
    FIRST + block * BLOCK + warp
}

/// The participant that stands for the mbarriers that a warp of a block initialises, and the asynchronous copies out of shared memory that it
/// issues.
pub(super) const fn stores(block: u32, index: u32) -> u32 {
    warp(block, STORES + index)
}

/// The participant that stands for the proxy fences of a warp, itself a participant.
pub(super) const fn fences(warp: u32) -> u32 {
    warp + FENCES
}

/// The warps of a clock's own cluster of which something is known, as participants.
pub(super) fn warps_below(participants: usize) -> impl Iterator<Item = u32> {
    let end = u32::try_from(participants).expect("a cluster has few participants");
    (FIRST..end).filter(|who| is_warp(*who))
}

/// Whether a participant is a warp.
pub(super) const fn is_warp(who: u32) -> bool {
    who >= FIRST && (who - FIRST) % BLOCK < WARPS
}

/// The participant that stands for the asynchronous copies that the mbarrier at a word of a block's shared memory counts.
pub(super) fn agent((block, word): (usize, usize)) -> u32 {
    let (block, word) = (u32::try_from(block), u32::try_from(word % AGENTS as usize));
    warp(block.expect("clusters are small"), WARPS + word.expect("few agents"))
}
