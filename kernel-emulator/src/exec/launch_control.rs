//! `clusterlaunchcontrol` (PTX ISA, "Parallel Synchronization and Communication Instructions"): a cluster takes the
//! place of one that has not started.
//!
//! Which clusters have started depends on the host's threads, as it does on a device's. The response is 16 bytes whose form
//! the manual leaves open: here the first block's three coordinates, and a one where a cluster was cancelled.

use std::sync::atomic::Ordering::Relaxed;

use super::bulk::copy::{at_lane, issuer};
use super::bulk::flight::{self, Cargo, Flight};
use super::bulk::{Piece, own_spot};
use super::memory::hazards;
use crate::code::{LANES, QueryCancel, Slot, TryCancel};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::warp::lanes;
use crate::machine::{Context, SHARED_WINDOW, WINDOW_SHIFT, Warp};

/// Bytes of a response.
const BYTES: u32 = 16;

/// An address in shared memory, which may be a generic one.
fn shared(address: u64) -> Run<u64> {
    match address >> WINDOW_SHIFT << WINDOW_SHIFT {
        0 => Ok(address),
        SHARED_WINDOW => Ok(address & u64::from(u32::MAX)),
        _ => {
            let detail = "`clusterlaunchcontrol.try_cancel` writes to shared memory";
            Err(Trap::new(FaultKind::WrongSpace, detail).address(address))
        }
    }
}

/// `clusterlaunchcontrol.try_cancel`: the next cluster that has not started will not; lanes one after another.
pub(crate) fn try_cancel(cx: &mut Context<'_>, warp: &Warp, op: &TryCancel, mask: u32) -> Run<()> {
    for lane in lanes(mask) {
        let to = shared(at_lane(warp, op.to, lane)?)?;
        let barrier = shared(at_lane(warp, op.barrier, lane)?)?;
        let to = own_spot(cx, to, (BYTES, 16), "the response of `clusterlaunchcontrol`")?;
        let barrier = own_spot(cx, barrier, (8, 8), "the mbarrier of `clusterlaunchcontrol`")?;
        let total: u64 = cx.launch.clusters().iter().map(|&n| u64::from(n)).product();
        let next = |n: u64| (n < total).then_some(n + 1);
        let taken = cx.launch.started.fetch_update(Relaxed, Relaxed, next).ok();
        let mut data = Vec::new();
        let first = taken.map_or([0; 3], |index| cx.launch.first_block(index));
        for word in first.into_iter().chain([u32::from(taken.is_some())]) {
            data.extend(word.to_le_bytes());
        }
        let blocks = if op.all { 0..cx.cluster.blocks.len() } else { cx.block..cx.block + 1 };
        for block in blocks {
            let cargo = Cargo::of(issuer(cx, warp, lane), data.clone());
            let barrier = (block, barrier.offset as usize / 8);
            let pieces = vec![Piece { offset: to.offset, bytes: BYTES }];
            let name = "`clusterlaunchcontrol.try_cancel`";
            hazards::fenced_reads(cx, warp, (block, to.offset, BYTES), name)?;
            flight::depart(cx, Flight { cargo, barrier, block, pieces })?;
        }
    }
    Ok(())
}

/// `clusterlaunchcontrol.query_cancel`
pub(crate) fn query(warp: &mut Warp, op: &QueryCancel, mask: u32) {
    let cancelled = |response: u128| response >> 96 & 1 != 0;
    match *op {
        QueryCancel::IsCanceled { d, a } => {
            let mut yes = 0;
            for (lane, response) in warp.regs.q(a).iter().enumerate() {
                yes |= u32::from(cancelled(*response)) << lane;
            }
            let defined = warp.regs.defined(Slot::Q(a));
            warp.regs.set_p(d, yes, mask, defined);
        }
        QueryCancel::FirstBlock { d, a } => {
            let responses = *warp.regs.q(a);
            let mut defined = warp.regs.defined(Slot::Q(a));
            for (lane, response) in responses.iter().enumerate() {
                // Of a response that cancelled nothing, the coordinates are not defined.
                defined &= !(u32::from(!cancelled(*response)) << lane);
            }
            for (i, d) in d.into_iter().enumerate() {
                let Some(d) = d else { continue };
                let mut value = [0; LANES];
                for (value, response) in value.iter_mut().zip(&responses) {
                    *value = u64::try_from(response >> (32 * i) & 0xFFFF_FFFF).expect("32 bits");
                }
                warp.regs.set_wide(Slot::W(d), &value, mask, defined);
            }
        }
    }
}
