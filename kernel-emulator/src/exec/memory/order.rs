//! What strong accesses hand on and learn at their locations; see `memory/race/sync.rs`.

use crate::code::{Doubles, Order, Place};
use crate::machine::warp::lanes;
use crate::machine::{Context, Warp};

/// The different addresses of lanes, with the lanes that have each.
fn by_address(addresses: &Doubles, mask: u32) -> impl Iterator<Item = (u64, u32)> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let address = addresses[lanes(rest).next()?];
        let same = lanes(rest).filter(|lane| addresses[*lane] == address);
        let same = same.fold(0, |mask, lane| mask | 1 << lane);
        rest &= !same;
        Some((address, same))
    })
}

/// Lanes are about to write strongly to addresses of a space, atomically or not: who reads that may learn what they hand on.
pub(crate) fn leave(
    cx: &mut Context<'_>,
    warp: &Warp,
    (place, addresses, mask): (Place, &Doubles, u32),
    (order, atomic): (Order, bool),
) {
    if !order.is_strong() || !cx.cluster.races.enabled() {
        return;
    }
    let races = &mut cx.cluster.races;
    for (address, same) in by_address(addresses, mask) {
        let author = races.author(warp.threads(same));
        let signals = (races.signals(warp.threads(same), order), atomic);
        match place {
            Place::Global | Place::Generic => cx.launch.board.leave(address, author, signals),
            Place::Shared => races.signals.leave(address, author, signals),
            Place::Const | Place::Param | Place::Local => {}
        }
    }
}

/// Lanes have read strongly from addresses of a space.
pub(crate) fn see(
    cx: &mut Context<'_>,
    warp: &Warp,
    (place, addresses, mask): (Place, &Doubles, u32),
    order: Order,
) {
    if !order.is_strong() || !cx.cluster.races.enabled() {
        return;
    }
    let races = &mut cx.cluster.races;
    for (address, same) in by_address(addresses, mask) {
        let signals = match place {
            Place::Global | Place::Generic => cx.launch.board.at(address),
            Place::Shared => races.signals.at(address),
            Place::Const | Place::Param | Place::Local => Vec::new(),
        };
        races.observe(warp.threads(same), order, signals);
    }
}
