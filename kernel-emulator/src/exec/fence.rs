//! Fences (PTX ISA, "Parallel Synchronization and Communication Instructions: membar, fence").

use super::tensormap;
use crate::code::Fence;
use crate::fault::Run;
use crate::machine::{Cluster, Context, Warp};

/// `fence`, `membar`.
pub(crate) fn fence(cx: &mut Context<'_>, warp: &Warp, op: Fence, mask: u32) -> Run<()> {
    if !matches!(op, Fence::AsyncProxy { .. }) {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }
    if let Fence::MapAcquire { map, scope } = op {
        return tensormap::order::acquire(cx, warp, (&map, scope), mask);
    }
    let Cluster { races, blocks, .. } = cx.cluster;
    let block = &mut blocks[cx.block];
    match op {
        Fence::Threads { scope, releases, acquires } => {
            races.fence(warp.threads(mask), scope, (releases, acquires));
        }
        Fence::Init => {
            block.unseen.fence(warp.index, mask);
            races.fence_inits(warp.threads(mask));
        }
        Fence::MapRelease { scope } => races.release_maps(warp.threads(mask), scope),
        Fence::Proxy | Fence::MapAcquire { .. } => {}
        Fence::AsyncProxy { shared, global } => {
            if shared {
                let now = (races.time(warp.seat(), mask), races.clock(warp.seat(), mask));
                block.proxies.fence(warp.index, mask, now);
                block.unseen.fence(warp.index, mask);
                races.advance(warp.seat());
            }
            if global {
                races.fence_proxy(warp.threads(mask));
            }
        }
    }
    Ok(())
}
