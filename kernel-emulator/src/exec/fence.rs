//! Fences (PTX ISA, "Parallel Synchronization and Communication Instructions: membar, fence").

use crate::code::Fence;
use crate::machine::{Context, Warp};

/// `fence`, `membar`.
pub(crate) fn fence(cx: &mut Context<'_>, warp: &Warp, op: Fence, mask: u32) {
    if op != Fence::AsyncProxy {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }
    let block = cx.block();
    match op {
        Fence::Threads => {
            block.synchronises();
            block.races.fence(warp.index);
        }
        Fence::Init => {
            block.unseen.fence(warp.index, mask);
            block.races.publish(warp.index);
        }
        Fence::Proxy => {}
        Fence::AsyncProxy => {
            let now = (block.races.time(warp.index), block.races.clock(warp.index));
            block.proxies.fence(warp.index, mask, now);
            block.unseen.fence(warp.index, mask);
        }
    }
}
