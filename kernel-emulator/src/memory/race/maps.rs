//! Tensor maps that threads change and the tensormap proxy reads (PTX ISA, "Proxies" and "membar, fence").
//!
//! A copy reads its map by the tensormap proxy. That sees what a thread wrote before the launch; what one wrote since, only if that was released
//! to the proxy (`fence.proxy.tensormap::generic.release`, `tensormap.cp_fenceproxy`), a thread that knows of the release acquired the map
//! (`fence.proxy.tensormap::generic.acquire` with its address), and the thread that issues the copy knows of that. It may be another one, of
//! the same block (CUDA C++ Programming Guide, "Usage of a Modified Tensor Map").
//!
//! A [`Clock`] says what is released. Each acquisition is remembered with what its threads knew to be released by then.

use std::collections::BTreeMap;

use super::across::Other;
use super::clock::{self, Clock, Epoch};
use super::{Races, Seat, Threads, view};
use crate::code::MemoryScope;
use crate::fault::Earlier;
use crate::machine::warp::lanes;

/// The acquisitions of tensor maps, by block and by address of the map.
pub(super) type Acquisitions = BTreeMap<(u32, u64), Vec<Acquired>>;

/// An acquisition of a tensor map.
#[derive(Debug)]
pub(super) struct Acquired {
    warp: u32,
    lanes: u32,
    /// When, on the warp's own clock.
    time: u32,
    scope: MemoryScope,
    /// What the lanes knew to be released.
    known: Clock,
}

/// Who wrote bytes of a tensor map last.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MapWriter {
    /// A participant of the cluster.
    Own(Epoch),
    /// One of another cluster.
    Other(Other),
}

/// What is missing between a write of a tensor map and a copy that reads it by the tensormap proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreleased {
    /// The thread that issues the copy does not know of the write.
    Unknown,
    Release,
    Acquire,
}

impl Acquired {
    /// Whether the release of a write was known.
    fn covers(&self, writer: MapWriter) -> bool {
        match writer {
            MapWriter::Other(_) => self.scope >= MemoryScope::Gpu && released(&self.known, writer),
            MapWriter::Own(_) => released(&self.known, writer),
        }
    }
}

/// Whether the release of a write is known.
fn released(known: &Clock, writer: MapWriter) -> bool {
    match writer {
        MapWriter::Own(epoch) => known.knows_released(epoch.who(), epoch.lane(), epoch.time()),
        MapWriter::Other(Other { stamp, .. }) => {
            known.other(stamp.cluster()).is_some_and(|known| {
                // Of neighbours that wrote the bytes of one word the stamp names one.
                let first = stamp.lane() as usize / 4 * 4;
                (first..first + 4).any(|lane| known.knows_released(stamp.who(), lane, stamp.time()))
            })
        }
    }
}

impl MapWriter {
    /// The write of a participant of the cluster, for messages.
    pub(crate) fn earlier(epoch: Epoch) -> Earlier {
        view::earlier((epoch, true))
    }
}

impl Races {
    /// The different last writes to bytes of global memory, none of them behind the end of their page: those of the cluster, and those of others among `elsewhere`.
    pub(crate) fn map_writers(&mut self, place: (u64, u32), elsewhere: &[Other]) -> Vec<MapWriter> {
        let mut epochs: Vec<Epoch> = self.pages.writes(place).collect();
        epochs.dedup();
        let of_others = elsewhere.iter().filter(|other| other.stamp.cluster() != self.cluster);
        let own = epochs.into_iter().filter(|epoch| epoch.is_somebody());
        own.map(MapWriter::Own).chain(of_others.copied().map(MapWriter::Other)).collect()
    }

    /// Threads release to the tensormap proxy what they know and did, in a scope. It is an ordinary fence as well.
    pub(crate) fn release_maps(&mut self, threads: Threads, scope: MemoryScope) {
        if self.enabled {
            self.of(threads).release_maps(threads, scope);
            self.fence(threads, scope, (true, false));
        }
    }

    /// Threads acquire the tensor map at an address, which some wrote last. It is an ordinary fence as well.
    pub(crate) fn acquire_map(
        &mut self,
        threads: Threads,
        scope: MemoryScope,
        (address, writers): (u64, &[MapWriter]),
    ) {
        if !self.enabled {
            return;
        }
        self.fence(threads, scope, (false, true));
        let seat = (threads.block, threads.warp);
        let (time, known) =
            (self.time(seat, threads.mask), self.clock(seat, threads.mask).of_maps());
        self.advance(seat);
        let all = self.acquired.entry((threads.block, address)).or_default();
        // One that does not cover the last writes is of no use any more, and who knows of a later one knows of an earlier one that covers them.
        all.retain(|one| writers.iter().all(|writer| one.covers(*writer)));
        let (warp, lanes) = (threads.warp, threads.mask);
        if !all.iter().any(|one| one.warp == warp && lanes & !one.lanes == 0) {
            all.push(Acquired { warp, lanes, time, scope, known });
        }
    }

    /// What is missing before a lane of a warp may have the tensor map at an address read that somebody wrote.
    pub(crate) fn map_unreleased(
        &self,
        (block, warp): Seat,
        lane: usize,
        (address, writer): (u64, MapWriter),
    ) -> Option<Unreleased> {
        let known = &self.warps[self.index(block, warp)];
        let knows = match writer {
            MapWriter::Own(epoch) => {
                known.ordered(Epoch::new((known.who(), lane), 0, (known.now(), 0)), epoch)
            }
            MapWriter::Other(other) => self.knows_elsewhere((block, warp), lane, other.stamp),
        };
        if !knows {
            return Some(Unreleased::Unknown);
        }
        let reaches = |one: &&Acquired| {
            let who = clock::warp(block, one.warp);
            one.warp == warp && one.lanes >> lane & 1 != 0
                || lanes(one.lanes).any(|of| known.knows(lane, (who, of), one.time))
        };
        let all = self.acquired.get(&(block, address)).map(Vec::as_slice).unwrap_or_default();
        if all.iter().filter(reaches).any(|one| one.covers(writer)) {
            None
        } else if released(&known.of(1 << lane), writer) {
            Some(Unreleased::Acquire)
        } else {
            Some(Unreleased::Release)
        }
    }
}
