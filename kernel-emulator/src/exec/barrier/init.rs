//! `mbarrier.init` writes through the generic proxy, and copies and `tcgen05.commit` arrive through the asynchronous one: the thread that initialises an
//! mbarrier executes `fence.mbarrier_init` before others use it (PTX ISA, "membar, fence"), or a proxy fence, which does more.

use super::super::bulk::Spot;
use crate::fault::{FaultKind, Run, Trap, Unfenced};
use crate::machine::{Context, Warp};

/// The mbarriers of a block whose threads have executed no fence since they initialised them.
#[derive(Debug, Default)]
pub(crate) struct Unseen(Vec<Made>);

/// An mbarrier, and who initialised it.
#[derive(Clone, Copy, Debug)]
struct Made {
    word: usize,
    warp: u32,
    lane: u32,
    pc: u32,
}

impl Unseen {
    pub(crate) fn reset(&mut self) {
        self.0.clear();
    }

    /// Lanes of a warp execute a fence.
    pub(crate) fn fence(&mut self, warp: u32, lanes: u32) {
        self.0.retain(|made| made.warp != warp || lanes >> made.lane & 1 == 0);
    }
}

/// A lane initialises an mbarrier.
pub(super) fn made(cx: &mut Context<'_>, warp: &Warp, (block, word): (usize, usize), lane: u32) {
    if cx.launch.check_init_fences {
        let unseen = &mut cx.cluster.blocks[block].unseen.0;
        unseen.retain(|made| made.word != word);
        unseen.push(Made { word, warp: warp.index, lane, pc: warp.pc });
    }
}

/// An asynchronous operation is about to be issued that arrives at an mbarrier.
///
/// # Errors
/// [`FaultKind::ProxyFence`].
pub(crate) fn seen(cx: &mut Context<'_>, (block, word): (usize, usize), what: &str) -> Run<()> {
    let unseen = &mut cx.cluster.blocks[block].unseen.0;
    let Some(place) = unseen.iter().position(|made| made.word == word) else {
        return Ok(());
    };
    // Once is enough, where the launch goes on.
    let Made { warp, lane, pc, .. } = unseen.remove(place);
    let offset = u32::try_from(8 * word).expect("shared memory is small");
    let at = u64::from(Spot { block, offset }.address());
    let detail = format!("{what} arrives at the mbarrier at shared address {at:#x}");
    let mut trap = Trap::new(FaultKind::ProxyFence, detail).address(at);
    let missing = "has executed no `fence.mbarrier_init.release.cluster` since";
    trap.unfenced = Some(Unfenced { warp, lane, pc, did: "initialised", missing });
    cx.found(trap)
}
