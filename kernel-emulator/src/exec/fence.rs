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
            block.races.fence(warp.threads(mask));
        }
        Fence::Init => {
            block.unseen.fence(warp.index, mask);
            block.races.publish(warp.threads(mask));
        }
        Fence::Proxy => {}
        Fence::AsyncProxy => {
            let now = (block.races.time(warp.index, mask), block.races.clock(warp.index, mask));
            block.proxies.fence(warp.index, mask, now);
            block.unseen.fence(warp.index, mask);
        }
    }
}
