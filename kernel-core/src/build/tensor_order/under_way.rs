//! What is under way on the ways to a place.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use super::flight::{Flight, Slot};
use crate::ir::Value;

/// How far a flight has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The barriers that a commit behind it arrives at.
    pub(super) commits: BTreeSet<Slot>,
    /// One of them.
    pub(super) by: Option<Value>,
    /// A wait since then that says nothing of it.
    pub(super) missed: Option<Value>,
    /// On other ways to this place it has been waited for: on a condition on which it is started, perhaps.
    pub(super) waited_elsewhere: bool,
}

/// What is under way on the way to a place of a partition.
pub(super) type UnderWay = BTreeMap<Flight, State>;

/// What the next iteration finds.
pub(super) fn later(under_way: UnderWay) -> UnderWay {
    let mut found = UnderWay::new();
    for (flight, state) in under_way {
        meet(&mut found, flight.later(), state);
    }
    found
}

/// What is left behind one of several ways, which began with the same; none where none of them goes on.
pub(super) fn behind_one(
    before: &UnderWay,
    ways: impl IntoIterator<Item = UnderWay>,
) -> Option<UnderWay> {
    let ways: Vec<UnderWay> = ways.into_iter().collect();
    let over = |flight: &&Flight| ways.iter().any(|left| !left.contains_key(flight));
    let waited: Vec<Flight> = before.keys().filter(over).cloned().collect();
    let mut left = ways.into_iter().reduce(joined)?;
    for flight in waited {
        left.entry(flight).and_modify(|state| state.waited_elsewhere = true);
    }
    Some(left)
}

/// Where two ways meet.
pub(super) fn joined(mut one: UnderWay, other: UnderWay) -> UnderWay {
    for (flight, state) in other {
        meet(&mut one, flight, state);
    }
    one
}

/// Where ways meet, what has been committed to is what was on all of them.
fn meet(into: &mut UnderWay, flight: Flight, state: State) {
    match into.entry(flight) {
        Entry::Vacant(entry) => {
            entry.insert(state);
        }
        Entry::Occupied(mut entry) => {
            let known = entry.get_mut();
            known.commits = known.commits.intersection(&state.commits).copied().collect();
            known.by = known.by.filter(|_| !known.commits.is_empty());
            known.missed = known.missed.filter(|&missed| state.missed == Some(missed));
            known.waited_elsewhere |= state.waited_elsewhere;
        }
    }
}
