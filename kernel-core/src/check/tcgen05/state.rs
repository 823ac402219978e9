//! What is in flight on the paths to a place.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use super::flight::{Flight, Memory};
use crate::{check::slots::Slot, ir::Value};

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
    /// A wait covers it on other paths to this place.
    pub(super) waited_elsewhere: bool,
    /// On other paths to this place it was not started: under a condition, in a loop without iterations, or in an iteration before the first one.
    pub(super) conditional: bool,
    /// A wait under a condition may cover it on exactly the paths on which it is in flight, like in `if step > 0 { done.wait(..); }`.
    pub(super) excused: bool,
}

/// What is in flight on the path to a place of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnderWay {
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

impl UnderWay {
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
    pub(super) fn later(self, entered: &UnderWay) -> Self {
        let UnderWay { flights, waited } = self.behind_iteration();
        let mut found = UnderWay { flights: BTreeMap::new(), waited };
        for (flight, mut state) in flights {
            // The first iteration has not found what an iteration starts.
            state.conditional |= !entered.flights.contains_key(&flight);
            state.excused |= state.conditional && state.waited_elsewhere;
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
                known.waited_elsewhere |= state.waited_elsewhere;
                known.conditional |= state.conditional;
                known.excused |= state.excused;
            }
        }
    }
}

/// What is left after one of several paths that began with the same; none if no path continues.
pub(super) fn behind_one(
    before: &UnderWay,
    ways: impl IntoIterator<Item = UnderWay>,
) -> Option<UnderWay> {
    let ways: Vec<UnderWay> = ways.into_iter().collect();
    let on_all = |flight: &Flight| ways.iter().all(|left| left.flights.contains_key(flight));
    let all: BTreeSet<&Flight> = ways.iter().flat_map(|left| left.flights.keys()).collect();
    let some: Vec<Flight> = all.into_iter().filter(|flight| !on_all(flight)).cloned().collect();
    let mut left = ways.into_iter().reduce(UnderWay::joined)?;
    left.flights.values_mut().filter(|state| state.conditional).for_each(State::committed);
    for flight in some {
        let started_before = before.flights.contains_key(&flight);
        left.flights.entry(flight).and_modify(|state| {
            if started_before {
                state.waited_elsewhere = true;
                state.excused |= state.conditional;
            } else {
                state.conditional = true;
            }
        });
    }
    Some(left)
}
