//! What is left to say of a traced cluster when it ends.

use super::Unit;
use super::livelock::Polling;
use super::locate::named;
use crate::fault::Fault;
use crate::machine::{Launch, State};

impl Unit {
    /// The cluster ended, perhaps with a fault: hands its record on, with what its warps wait for.
    pub(super) fn hand_over(&mut self, launch: &Launch<'_>, fault: Option<&Fault>) {
        let (Some(tracer), Some(mut trace)) = (launch.tracer, self.cluster.trace.take()) else {
            return;
        };
        if let Some(fault) = fault {
            let polling = Polling::new();
            for waiting in self.waiting(&polling) {
                let seat = waiting.warp.seat();
                let id = self.cluster.blocks[waiting.block].id;
                let own = (id, waiting.warp.index) == (fault.block, fault.warp);
                let waits = !matches!(waiting.fragment.state, State::Ready | State::Join);
                if waits {
                    let why = named(launch, self.wait(launch, waiting));
                    trace.stops(seat, waiting.pc(), why);
                } else if own {
                    let why = format!("{}: {}", fault.kind.text(), fault.detail);
                    trace.stops(seat, waiting.warp.pc, why);
                }
            }
        }
        tracer.take(*trace);
    }
}
