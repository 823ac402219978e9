//! Races on shared and global memory: who touched a word last, and whether anything orders that before the next access.
//!
//! Every warp has a vector clock (Mattern 1989): for each warp of the cluster, how much of it happens before here. Barriers, mbarriers,
//! fences and atomic operations join clocks. Every 4-byte word remembers its last write as an epoch, a lane of a warp and the warp's own
//! clock (Flanagan and Freund, "`FastTrack`", 2009), and every reader since. An access races with an earlier one that does not happen
//! before it.
//!
//! Lanes of one warp are ordered where they meet: at `bar.warp.sync` (PTX ISA, "bar.warp.sync"), at barriers of the whole block or cluster, and at
//! what the tensor cores do for a warp, not by running side by side, nor by shuffles, votes and the like, which say nothing of memory. What one lane hands on or learns, at an mbarrier for instance, the others have no part
//! in until they meet. A warp that its lanes keep together costs no more than one clock.
//!
//! Accesses of one and two bytes mostly cover whole words together with those of the neighbouring lanes, and count as such. Where they
//! do not, the word is split into its bytes ([`Part`]) until all of them agree again, so that two warps may write the two halves of a
//! word.
//!
//! An asynchronous copy whose bytes an mbarrier counts writes as a participant of its own, an agent: from its issue on, until a thread
//! waits on the mbarrier. The start of a block counts as a write to all of its memory, so that other blocks have to know of it.
//!
//! A store of what another thread stored in the same place is not a race: nothing depends on their order.
//!
//! Of global memory a cluster follows what it accessed itself, page by page ([`Pages`]); what clusters do to each other is told by
//! [`Across`], and what they hand on to each other by [`sync`]. There a clock stands in for the table of `memory/proxy.rs` as well: it says up to when
//! the writes of a warp are known to the asynchronous proxy; and [`maps`], what the tensormap proxy knows.
//!
//! Not followed: lanes that write the same word with one instruction, and a store that an atomic operation of the same thread came after,
//! against atomic operations of others. Where several threads hand on at one location in the scope of the GPU, a reader in a smaller scope learns
//! from all of them.

mod across;
mod clock;
mod maps;
mod pages;
mod part;
mod readers;
mod space;
mod sync;
#[cfg(test)]
mod tests;
mod view;
mod warps;

pub(crate) use across::{Across, Meeting, Other, Stamp};
use clock::agent;
pub(crate) use clock::{Clock, Epoch, warp};
use maps::Acquisitions;
pub(crate) use maps::{MapWriter, Unreleased};
use pages::Pages;
use readers::Readers;
use space::Space;
use sync::Kept;
pub(crate) use sync::{Board, Locations};
use view::View;
use warps::Known;
pub(crate) use warps::Threads;

use crate::code::Doubles;
use crate::fault::Earlier;
use crate::machine::warp::lanes;

/// What is known of the shared memory of a cluster's blocks.
#[derive(Debug, Default)]
pub(crate) struct Races {
    /// Whether there is shared memory, and the launch wants to know.
    enabled: bool,
    /// Warps of a block.
    count: u32,
    /// What the warps know, block by block.
    warps: Vec<Known>,
    /// How many copies of each agent departed, block by block.
    agents: Vec<u32>,
    /// How many copies out of shared memory each warp issued, and how many mbarriers it initialised.
    stores: Vec<u32>,
    inits: Vec<u32>,
    spaces: Vec<Space>,
    /// What is known of the global memory that the cluster accessed.
    pages: Pages,
    readers: Readers,
    /// The cluster's number in the grid.
    cluster: u32,
    /// What each warp keeps for fences to come, and from those that it executed.
    kept: Vec<Kept>,
    /// What blocks acquired for the tensormap proxy.
    acquired: Acquisitions,
    /// What was handed on at locations of shared memory, by address.
    pub(crate) signals: Locations,
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) lane: u32,
    pub(crate) earlier: Earlier,
}

/// How lanes access memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    Read,
    /// A read that the lanes of the warp execute together: others know that it is over when they know so of all lanes.
    ReadTogether,
    /// A strong read: it races with weak writes only.
    ReadStrong,
    Write,
    /// A strong write or an atomic operation: it races with weak accesses only.
    WriteStrong,
}

impl Touch {
    /// Whether it changes memory.
    const fn writes(self) -> bool {
        match self {
            Touch::Write | Touch::WriteStrong => true,
            Touch::Read | Touch::ReadTogether | Touch::ReadStrong => false,
        }
    }

    /// Whether it races with weak accesses only.
    const fn is_strong(self) -> bool {
        match self {
            Touch::ReadStrong | Touch::WriteStrong => true,
            Touch::Read | Touch::ReadTogether | Touch::Write => false,
        }
    }
}

/// The memory that a warp accesses.
#[derive(Clone, Copy, Debug)]
enum Area {
    /// The shared memory of a block.
    Shared(usize),
    /// A page of global memory.
    Global(u64),
}

/// A warp that executes an instruction which accesses memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accessor {
    /// The block, in its cluster.
    pub(crate) block: u32,
    pub(crate) warp: u32,
    pub(crate) pc: u32,
}

/// An earlier access that does not happen before this one, and whether it wrote.
type Unordered = (Epoch, bool);

impl Races {
    /// Forgets everything, for a cluster of so many blocks of this many warps and bytes.
    pub(crate) fn reset(
        &mut self,
        cluster: u64,
        (blocks, warps, bytes): (u32, u32, u32),
        enabled: bool,
    ) {
        self.enabled = enabled;
        self.count = warps;
        self.cluster = u32::try_from(cluster).unwrap_or(u32::MAX);
        self.signals.clear();
        self.acquired.clear();
        self.agents.clear();
        self.warps.clear();
        self.kept.clear();
        if !self.enabled {
            return;
        }
        self.stores.clear();
        self.stores.resize((blocks * warps) as usize, 0);
        self.inits.clear();
        self.inits.resize((blocks * warps) as usize, 0);
        self.kept.resize_with((blocks * warps) as usize, Kept::default);
        self.agents.resize((blocks * clock::AGENTS) as usize, 0);
        self.spaces.resize_with(blocks as usize, Space::default);
        self.pages.reset();
        self.readers.reset();
        let rows = bytes.div_ceil(16) as usize;
        for (block, space) in (0..).zip(&mut self.spaces) {
            self.warps.extend((0..warps).map(|warp| Known::new(block, warp)));
            // Who accesses the memory of another block has to know that the block has started.
            let first = if blocks > 1 { Epoch::start(block) } else { Epoch::NONE };
            space.reset(rows, first);
        }
    }

    #[inline]
    pub(crate) fn enabled(&self) -> bool {
        self.enabled
    }

    /// Where a warp stands in the list.
    #[inline]
    fn index(&self, block: u32, warp: u32) -> usize {
        (block * self.count + warp) as usize
    }

    fn of(&mut self, threads: Threads) -> &mut Known {
        let index = self.index(threads.block, threads.warp);
        &mut self.warps[index]
    }

    /// What threads know and did, to be handed on; what they do from here on is not part of it.
    pub(crate) fn release(&mut self, threads: Threads, into: &mut Clock) {
        if self.enabled {
            self.of(threads).release(threads.mask, into);
        }
    }

    /// Threads learn what was handed on.
    pub(crate) fn acquire(&mut self, threads: Threads, from: &Clock) {
        if self.enabled {
            self.of(threads).acquire(threads, from);
        }
    }

    /// Threads of a warp wait for one another.
    pub(crate) fn meet(&mut self, threads: Threads) {
        if self.enabled {
            self.of(threads).meet(threads);
        }
    }

    /// A thread of a block is there: who learns of that knows that the block has started.
    pub(crate) fn started(block: usize, into: &mut Clock) {
        let start = Epoch::start(u32::try_from(block).expect("clusters are small"));
        into.learn(start.who(), start.time());
    }

    /// Whether some lane of a warp of a block knows what another one did at a time on that warp's own clock.
    pub(crate) fn knows(&self, (block, warp): Seat, other: Seat, time: u32) -> bool {
        let who = clock::warp(other.0, other.1);
        !self.enabled
            || (block, warp) == other
            || self.clock((block, warp), u32::MAX).reaches(who, time)
    }

    /// A warp's own clock, at which some of its lanes do something that others have to know of; 0 where races are not looked for.
    /// It stands for the same as long as the warp hands nothing on.
    pub(crate) fn time(&mut self, (block, warp): Seat, mask: u32) -> u32 {
        if !self.enabled {
            return 0;
        }
        let index = self.index(block, warp);
        self.warps[index].act(mask);
        self.warps[index].now()
    }

    /// How often lanes of a warp handed something on: what it did since, nobody else knows of. 0 where races are not looked for.
    pub(crate) fn handed_on(&self, (block, warp): Seat) -> u32 {
        self.warps.get(self.index(block, warp)).map_or(0, Known::handed_on)
    }

    /// What a warp does from here on is told apart from what it did.
    pub(crate) fn advance(&mut self, (block, warp): Seat) {
        if self.enabled {
            let index = self.index(block, warp);
            self.warps[index].advance();
        }
    }

    /// What threads know; nothing where races are not looked for.
    pub(crate) fn clock(&self, (block, warp): Seat, mask: u32) -> Clock {
        let known = self.warps.get(self.index(block, warp));
        known.map(|known| known.of(mask)).unwrap_or_default()
    }

    /// An asynchronous copy departs, whose bytes the mbarrier at a word of a block's shared memory counts: its epoch.
    pub(crate) fn depart(&mut self, barrier: (usize, usize), pc: u32) -> Epoch {
        if !self.enabled {
            return Epoch::NONE;
        }
        let agents = clock::AGENTS as usize;
        let count = &mut self.agents[barrier.0 * agents + barrier.1 % agents];
        *count = (*count + 1).min(clock::LAST);
        Epoch::new((agent(barrier), 0), 0, (*count, pc))
    }

    /// A copy landed: who waits for its mbarrier knows of it.
    pub(crate) fn arrived(epoch: Epoch, into: &mut Clock) {
        into.learn(epoch.who(), epoch.time());
    }

    /// Whether some lane of a warp knows that an operation on tensor memory is complete.
    pub(crate) fn knows_completed(&self, warp: Seat, thread: u32, number: u32) -> bool {
        !self.enabled || self.clock(warp, u32::MAX).knows_completed(thread, number)
    }

    /// Whether some warp of a block knows that an operation on tensor memory is complete.
    pub(crate) fn block_knows_completed(&self, block: usize, thread: u32, number: u32) -> bool {
        let block = u32::try_from(block).expect("clusters are small");
        (0..self.count).any(|warp| self.knows_completed((block, warp), thread, number))
    }

    /// Copies that wrote bytes of a block last are no matter for the next one, since both are reductions.
    pub(crate) fn forget_copies(&mut self, block: usize, offset: u32, bytes: u32) {
        if self.enabled {
            let words = offset as usize / 4..(offset + bytes) as usize / 4;
            self.spaces[block].forget(words, Epoch::is_copy);
        }
    }

    /// The view of an access of a warp. Races are looked for.
    fn view(&mut self, who: Accessor, area: Area, touch: Touch) -> View<'_> {
        if self.readers.many() {
            self.collect();
        }
        let index = self.index(who.block, who.warp);
        let space = match area {
            Area::Shared(block) => &mut self.spaces[block],
            Area::Global(page) => self.pages.space(page),
        };
        View::new((&mut self.warps[index], space, &mut self.readers), who.pc, touch)
    }

    /// An asynchronous operation that a warp issues reads units of 16 bytes of a block, and has done so for who knows of its epoch.
    pub(crate) fn read_by(
        &mut self,
        epoch: Epoch,
        who: Accessor,
        (block, units): (usize, impl Iterator<Item = u32>),
    ) {
        if self.enabled {
            self.view(who, Area::Shared(block), Touch::Read).read_by(epoch, units);
        }
    }

    /// The epoch of an operation on tensor memory: the index of its thread, its number, and its instruction.
    pub(crate) fn operation(thread: u32, number: u32, pc: u32) -> Epoch {
        Epoch::new((clock::tensor(thread), 0), 0, (number.min(clock::LAST), pc))
    }

    /// The warps that read words of a block's memory since they were last written: block and warp, lane, time, and instruction. Not those of words of
    /// which only some bytes were touched at a time.
    pub(crate) fn readers(
        &self,
        block: usize,
        (offset, bytes): (u32, u32),
    ) -> Vec<(Seat, usize, u32, u32)> {
        let mut found = Vec::new();
        if !self.enabled {
            return found;
        }
        for word in offset as usize / 4..(offset + bytes) as usize / 4 {
            let (reads, behind) = self.spaces[block].reads(word);
            let warps = self.readers.of(reads);
            for (epoch, of_first) in warps.filter(|(epoch, _)| clock::is_warp(epoch.who())) {
                let place = epoch.place();
                let of = |lane| (place, lane, epoch.time(), epoch.pc());
                found.extend(lanes(of_first << behind).map(of));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// An asynchronous copy that a lane issues is going to write bytes of a block. Offset and size are multiples of 4.
    pub(crate) fn overwrite(
        &mut self,
        epoch: Epoch,
        (who, lane): (Accessor, usize),
        (block, offset, bytes): (usize, u32, u32),
    ) -> Result<(), Conflict> {
        if !self.enabled {
            return Ok(());
        }
        let mut view = self.view(who, Area::Shared(block), Touch::Write);
        view.overwrite(epoch, lane, (offset, bytes))
    }

    /// A block leaves with its shared memory, as if it overwrote all of it but for some words of 8 bytes: the offset of the first of the others that
    /// another block accessed and none of this one's warps knows of.
    pub(crate) fn leave(&mut self, block: usize, except: &[usize]) -> Result<(), (u32, Earlier)> {
        let own = u32::try_from(block).expect("clusters are small");
        let warps = self.index(own, 0)..self.index(own + 1, 0);
        let mut known = Known::of_all(own, &mut self.warps[warps]);
        let (space, readers) = (&mut self.spaces[block], &mut self.readers);
        View::new((&mut known, space, readers), 0, Touch::Write).overwrite_all(except)
    }

    /// A warp accesses `bytes` bytes of each lane of the shared memory of a block.
    #[inline]
    pub(crate) fn access(
        &mut self,
        (who, block, touch): (Accessor, usize, Touch),
        offsets: &Doubles,
        bytes: u32,
        mask: u32,
    ) -> Result<(), Conflict> {
        self.view(who, Area::Shared(block), touch).access(offsets, bytes, mask)
    }

    /// A warp accesses `bytes` bytes of each lane of global memory; what other clusters do there is another question.
    #[inline]
    pub(crate) fn access_global(
        &mut self,
        (who, touch): (Accessor, Touch),
        addresses: &Doubles,
        bytes: u32,
        mask: u32,
    ) -> Result<(), Conflict> {
        let offsets = addresses.map(|address| address % pages::BYTES);
        let mut rest = mask;
        while rest != 0 {
            let page = addresses[rest.trailing_zeros() as usize] / pages::BYTES;
            // Lanes that are neighbours mostly access one page.
            let others = lanes(rest).find(|lane| addresses[*lane] / pages::BYTES != page);
            let others = others.map_or(0, |lane| u32::MAX << lane);
            self.view(who, Area::Global(page), touch).access(&offsets, bytes, rest & !others)?;
            rest &= others;
        }
        Ok(())
    }

    /// An asynchronous copy out of shared memory departs: its epoch.
    pub(crate) fn store_departs(&mut self, who: Accessor, lane: usize, reduces: bool) -> Epoch {
        if !self.enabled {
            return Epoch::NONE;
        }
        let index = self.index(who.block, who.warp);
        self.stores[index] = (self.stores[index] + 1).min(clock::LAST - clock::INITS);
        let participant = (clock::stores(who.block, who.warp), lane);
        let time = clock::INITS + self.stores[index];
        let epoch = Epoch::new(participant, 0, (time, who.pc));
        if reduces { epoch.atomic() } else { epoch }
    }

    /// A lane has initialised the mbarrier at an offset of the shared memory of a block, which it may write: a fence for mbarriers hands on that, and
    /// nothing else that the lane did.
    pub(crate) fn initialised(
        &mut self,
        (threads, pc): (Threads, u32),
        (block, offset): (usize, u32),
    ) {
        if !self.enabled {
            return;
        }
        let index = self.index(threads.block, threads.warp);
        self.inits[index] = (self.inits[index] + 1).min(clock::INITS);
        let lane = threads.mask.trailing_zeros() as usize;
        let participant = (clock::stores(threads.block, threads.warp), lane);
        let epoch = Epoch::new(participant, 0, (self.inits[index], pc));
        let word = offset as usize / 4;
        self.spaces[block].overwrite(word..word + 2, epoch, &mut self.readers);
        self.store_landed(threads, epoch);
    }

    /// The copy has written, and a thread knows: the only one of `threads`.
    pub(crate) fn store_landed(&mut self, threads: Threads, epoch: Epoch) {
        if self.enabled {
            let mut landed = Clock::default();
            landed.learn_lanes(epoch.who(), epoch.lanes(), epoch.time());
            self.of(threads).acquire(threads, &landed);
        }
    }

    /// The copy is going to write bytes of global memory, none of them behind the end of their page.
    pub(crate) fn overwrite_global(
        &mut self,
        epoch: Epoch,
        (who, lane): (Accessor, usize),
        (address, bytes): (u64, u32),
    ) -> Result<(), Conflict> {
        let touch = if epoch.is_atomic() { Touch::WriteStrong } else { Touch::Write };
        let mut view = self.view(who, Area::Global(address / pages::BYTES), touch);
        let offset = u32::try_from(address % pages::BYTES).expect("a page is small");
        view.overwrite(epoch, lane, (offset, bytes))
    }

    /// The first write of the cluster to words of global memory, none of them behind the end of their page, if there is one.
    pub(crate) fn writer(&mut self, seat: Seat, place: (u64, u32)) -> Option<Earlier> {
        self.first_write(seat, place, |_, _| true)
    }

    /// The first write of the cluster to words of global memory, none of them behind the end of their page, that a lane does not know of.
    pub(crate) fn unknown(
        &mut self,
        (block, warp): Seat,
        lane: usize,
        place: (u64, u32),
    ) -> Option<Earlier> {
        self.first_write((block, warp), place, |known, epoch| {
            !known.ordered(Epoch::new((known.who(), lane), 0, (known.now(), 0)), epoch)
        })
    }

    /// The first write of the cluster to words of global memory, none of them behind the end of their page, of which `wanted` says so of what a
    /// warp knows.
    fn first_write(
        &mut self,
        (block, warp): Seat,
        place: (u64, u32),
        wanted: impl Fn(&Known, Epoch) -> bool,
    ) -> Option<Earlier> {
        let known = &self.warps[self.index(block, warp)];
        let mut epochs = self.pages.writes(place);
        let epoch = epochs.find(|epoch| epoch.is_somebody() && wanted(known, *epoch))?;
        Some(view::earlier((epoch, true)))
    }

    /// Threads wait until the grid before is over.
    pub(crate) fn wait_for_grid(&mut self, threads: Threads) {
        self.acquire(threads, &Clock::of_grid_before());
    }

    /// Whether a lane knows that the grid before is over.
    pub(crate) fn knows_grid_before(&self, (block, warp): Seat, lane: usize) -> bool {
        self.warps[self.index(block, warp)].of(1 << lane).knows_grid_before()
    }

    /// Threads execute a proxy fence: what they know and did is known to the asynchronous proxy.
    pub(crate) fn fence_proxy(&mut self, threads: Threads) {
        if self.enabled {
            self.of(threads).fence_proxy(threads);
        }
    }

    /// The first write of the cluster to words of global memory, none of them behind the end of their page, that a lane knows of and whose
    /// proxy fence it does not.
    pub(crate) fn unfenced(
        &mut self,
        (block, warp): Seat,
        lane: usize,
        place: (u64, u32),
    ) -> Option<Earlier> {
        self.first_write((block, warp), place, |known, epoch| {
            clock::is_warp(epoch.who())
                && !known.knows(lane, (clock::fences(epoch.who()), epoch.lane()), epoch.time())
        })
    }

    /// The same for the write of another cluster.
    pub(crate) fn unfenced_elsewhere(
        &self,
        (block, warp): Seat,
        lane: usize,
        other: Stamp,
    ) -> bool {
        let known = &self.warps[self.index(block, warp)];
        let who = (clock::fences(other.who()), other.lane() as usize);
        other.cluster() != self.cluster
            && clock::is_warp(other.who())
            && !known.knows_elsewhere(lane, other.cluster(), who, other.time())
    }

    /// The stamp of a copy, for other clusters.
    pub(crate) fn stamp_of(&self, epoch: Epoch) -> Stamp {
        let who = (epoch.who(), epoch.lane());
        Stamp::new(self.cluster, who, epoch.time(), epoch.is_atomic())
    }

    /// The stamp of lane 0 of a warp, for other clusters.
    pub(crate) fn stamp(&self, (block, warp): Seat, strong: bool) -> Stamp {
        let known = &self.warps[self.index(block, warp)];
        Stamp::new(self.cluster, (known.who(), 0), known.now(), strong)
    }

    /// Whether a lane of a warp knows of an access of another cluster.
    pub(crate) fn knows_elsewhere(&self, (block, warp): Seat, lane: usize, other: Stamp) -> bool {
        let known = &self.warps[self.index(block, warp)];
        // Neighbours may have written the bytes of one word, and the stamp names the last of them: who knows of one is taken to know of all.
        let first = other.lane() as usize / 4 * 4;
        (first..first + 4)
            .any(|of| known.knows_elsewhere(lane, other.cluster(), (other.who(), of), other.time()))
    }

    /// A lane reads units of 16 bytes of the shared memory of a block, or a warp does together. Nothing where no races are looked for.
    pub(crate) fn read_units(
        &mut self,
        (who, block, touch): (Accessor, usize, Touch),
        lane: usize,
        units: &[u32],
    ) -> Result<(), Conflict> {
        if !self.enabled {
            return Ok(());
        }
        self.view(who, Area::Shared(block), touch).read_units(lane, units)
    }

    /// Removes the sets of readers that no word has.
    #[cold]
    fn collect(&mut self) {
        let spaces = self.spaces.iter_mut().chain(self.pages.spaces());
        self.readers.collect(spaces.flat_map(Space::sets));
    }
}

/// A warp of a cluster: its block and its number there.
pub(crate) type Seat = (u32, u32);
