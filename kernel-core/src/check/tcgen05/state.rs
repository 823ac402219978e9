//! What is in flight on the paths to a place.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use super::flight::{Flight, Memory};
use crate::{
    check::{
        other_paths::{OtherPaths, on_some},
        slots::Slot,
    },
    ir::Value,
};

/// The state of an operation in flight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The barriers of the commits after it.
    pub(super) commits: BTreeSet<Slot>,
    /// Those of commits on some paths only.
    pub(super) sometimes: BTreeSet<Slot>,
    /// One of them.
    pub(super) by: Option<Value>,
    /// A wait since then that does not cover it.
    pub(super) missed: Option<Value>,
    pub(super) others: OtherPaths,
}

/// What is in flight on the path to a place of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct InFlight {
    pub(super) flights: BTreeMap<Flight, State>,
    /// The memory that a wait has covered; of several tiles chosen at run time, perhaps this one.
    pub(super) waited: BTreeSet<Memory>,
}

impl State {
    /// Commits under a condition are for what is started under it.
    fn committed(&mut self) {
        self.commits.append(&mut self.sometimes);
    }
}

impl InFlight {
    /// Ends what a wait covers.
    pub(super) fn end(&mut self, mut over: impl FnMut(&mut State) -> bool) {
        let waited = &mut self.waited;
        self.flights.retain(|flight, state| {
            let over = over(state);
            if over {
                waited.insert(flight.extent.memory);
            }
            !over
        });
    }

    /// What is found after an iteration: a commit on a condition may be that of the last one.
    pub(super) fn behind_iteration(mut self) -> Self {
        self.flights.values_mut().for_each(State::committed);
        self
    }

    /// What the next iteration finds, after one that began with `entered`.
    pub(super) fn later(self, entered: &InFlight) -> Self {
        let InFlight { flights, waited } = self.behind_iteration();
        let mut found = InFlight { flights: BTreeMap::new(), waited };
        for (flight, mut state) in flights {
            state.others.iterate(&flight, &entered.flights);
            found.meet(flight.later(), state);
        }
        found
    }

    /// Where two paths join.
    pub(super) fn joined(mut self, other: Self) -> Self {
        for (flight, state) in other.flights {
            self.meet(flight, state);
        }
        self.waited.extend(other.waited);
        self
    }

    fn meet(&mut self, flight: Flight, state: State) {
        match self.flights.entry(flight) {
            Entry::Vacant(entry) => {
                entry.insert(state);
            }
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                let other = &state.commits;
                let sometimes = known.commits.symmetric_difference(other).copied().collect();
                known.commits.retain(|slot| other.contains(slot));
                known
                    .sometimes
                    .extend(state.sometimes.into_iter().chain::<BTreeSet<Slot>>(sometimes));
                known.by = known.by.or(state.by);
                known.missed = known.missed.filter(|&missed| state.missed == Some(missed));
                known.others.join(state.others);
            }
        }
    }
}

/// What is left after one of several paths that began with the same; none if no path continues.
pub(super) fn behind_one(
    before: &InFlight,
    paths: impl IntoIterator<Item = InFlight>,
) -> Option<InFlight> {
    let paths: Vec<InFlight> = paths.into_iter().collect();
    let some = on_some(&paths.iter().map(|left| &left.flights).collect::<Vec<_>>());
    let mut left = paths.into_iter().reduce(InFlight::joined)?;
    left.flights.values_mut().filter(|state| state.others.conditional).for_each(State::committed);
    for flight in some {
        if let Some(state) = left.flights.get_mut(&flight) {
            state.others.part(&flight, &before.flights);
        }
    }
    Some(left)
}
