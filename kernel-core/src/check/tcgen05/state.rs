//! What is under way on the ways to a place.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use super::flight::{Flight, Memory, Slot};
use crate::ir::Value;

/// How far a flight has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The barriers that a commit behind it arrives at.
    pub(super) commits: BTreeSet<Slot>,
    /// Those that one arrives at on some ways.
    pub(super) sometimes: BTreeSet<Slot>,
    /// One of them.
    pub(super) by: Option<Value>,
    /// A wait since then that says nothing of it.
    pub(super) missed: Option<Value>,
    /// On other ways to this place it has been waited for.
    pub(super) waited_elsewhere: bool,
    /// On other ways to this place it was not started: on a condition, in a loop without iterations, or in an iteration before the first one.
    pub(super) conditional: bool,
    /// A wait on a condition may be for it on just the ways on which it is under way, as in `if step > 0 { done.wait(..); }`.
    pub(super) excused: bool,
}

/// What is under way on the way to a place of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnderWay {
    pub(super) flights: BTreeMap<Flight, State>,
    /// The memory for which there has been a wait. Of several tiles whose numbers are known when the kernel runs, it may have been this one's.
    pub(super) waited: BTreeSet<Memory>,
}

impl State {
    /// Commits on a condition are for what is started on it.
    fn committed(&mut self) {
        self.commits.append(&mut self.sometimes);
    }
}

impl UnderWay {
    /// Ends what a wait says to be over.
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

    /// What is found behind an iteration: a commit on a condition may be that of the last one.
    pub(super) fn behind_iteration(mut self) -> Self {
        self.flights.values_mut().for_each(State::committed);
        self
    }

    /// What the next iteration finds, behind one that began with `entered`.
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

    /// Where two ways meet.
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

/// What is left behind one of several ways, which began with the same; none where none of them goes on.
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
