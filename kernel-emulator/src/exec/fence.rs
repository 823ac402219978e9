//! Fences (PTX ISA, "Parallel Synchronization and Communication Instructions: membar, fence").

use crate::code::Fence;
use crate::machine::{Cluster, Context, Warp};

/// `fence`, `membar`.
pub(crate) fn fence(cx: &mut Context<'_>, warp: &Warp, op: Fence, mask: u32) {
    if op != Fence::AsyncProxy {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }
    let Cluster { races, blocks, .. } = cx.cluster;
    let block = &mut blocks[cx.block];
    match op {
        Fence::Threads => {
            block.synchronises();
            races.fence(warp.threads(mask));
        }
        Fence::Init => {
            block.unseen.fence(warp.index, mask);
            races.publish(warp.threads(mask));
        }
        Fence::Proxy => {}
        Fence::AsyncProxy => {
            let now = (races.time(warp.seat(), mask), races.clock(warp.seat(), mask));
            block.proxies.fence(warp.index, mask, now);
            block.unseen.fence(warp.index, mask);
        }
    }
}
