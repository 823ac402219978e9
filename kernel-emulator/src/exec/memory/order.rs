//! What strong accesses hand on and learn at their locations; see `memory/race/sync.rs`.

use crate::code::{Doubles, Order, Place};
use crate::machine::warp::lanes;
use crate::machine::{Context, Warp};

/// Where the lanes of a mask access a space, each as many bytes.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub(crate) place: Place,
    pub(crate) addresses: &'a Doubles,
    pub(crate) bytes: u32,
    pub(crate) mask: u32,
}

impl Places<'_> {
    /// The different addresses, word by word since a vector counts as its elements, with the lanes that have each.
    fn words(self) -> impl Iterator<Item = (u64, u32)> {
        let Places { addresses, bytes, mask, .. } = self;
        let mut rest = mask;
        let different = std::iter::from_fn(move || {
            let address = addresses[lanes(rest).next()?];
            let same = lanes(rest).filter(|lane| addresses[*lane] == address);
            let same = same.fold(0, |mask, lane| mask | 1 << lane);
            rest &= !same;
            Some((address, same))
        });
        let words = (0..u64::from(bytes)).step_by(4);
        different.flat_map(move |(address, same)| words.clone().map(move |at| (address + at, same)))
    }
}

/// Lanes are about to write strongly to addresses of a space, atomically or not: who reads that may learn what they hand on. The write is
/// noted already: a release is ordered before what follows an acquire of it (PTX ISA, "Causality Order": what synchronizes precedes).
pub(crate) fn leave(
    cx: &mut Context<'_>,
    warp: &Warp,
    places: Places<'_>,
    (order, atomic): (Order, bool),
) {
    if !order.is_strong() || !cx.cluster.races.enabled() {
        return;
    }
    let races = &mut cx.cluster.races;
    for (address, same) in places.words() {
        let author = races.author(warp.threads(same));
        let signals = (races.signals(warp.threads(same), order), atomic);
        match places.place {
            Place::Global | Place::Generic => cx.launch.board.leave(address, author, signals),
            Place::Shared => races.signals.leave(address, author, signals),
            Place::Const | Place::Param | Place::Local => {}
        }
    }
}

/// Lanes have read strongly from addresses of a space.
pub(crate) fn see(cx: &mut Context<'_>, warp: &Warp, places: Places<'_>, order: Order) {
    if !order.is_strong() || !cx.cluster.races.enabled() {
        return;
    }
    let races = &mut cx.cluster.races;
    for (address, same) in places.words() {
        let signals = match places.place {
            Place::Global | Place::Generic => cx.launch.board.at(address),
            Place::Shared => races.signals.at(address),
            Place::Const | Place::Param | Place::Local => Vec::new(),
        };
        races.observe(warp.threads(same), order, signals);
    }
}
