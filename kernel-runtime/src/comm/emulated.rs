//! The emulator's side: bytes are read from emulated memory, combined at the meeting point, and written back.

use super::{Link, call::Call};
use crate::{Result, back_end::Queue};

/// Runs calls, or records them; each has run on this rank when this returns, and so has its part on all other ranks.
pub(super) fn start(calls: &[Call], first: &Call) -> Result<()> {
    let collect = |call: &Call| match (&call.rank.link, call.stream.queue()) {
        (Link::Emulator(seat), Queue::Emulator(queue)) => {
            let place = |part: &super::call::Part| (part.address, part.bytes);
            let (from, to) = (call.from.as_ref().map(place), call.to.as_ref().map(place));
            queue.collect_of(seat, call.signature, from, to)
        }
        #[cfg(feature = "cuda")]
        (Link::Cuda(_), _) | (_, Queue::Cuda(_)) => {
            unreachable!("`Comm` refuses streams of other devices, and groups of both kinds")
        }
    };
    let collects = calls.iter().map(collect).collect();
    match first.stream.queue() {
        Queue::Emulator(queue) => queue.collect(collects),
        #[cfg(feature = "cuda")]
        Queue::Cuda(_) => unreachable!("`Comm` refuses streams of other devices"),
    }
}
