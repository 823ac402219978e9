//! Races on global memory: within a cluster, and with other clusters of the launch.

use super::Access;
use super::hazards::Accessed;
use crate::code::MemoryScope;
use crate::fault::{By, Earlier, FaultKind, Run, Trap};
use crate::machine::{Context, Warp};
use crate::memory::Allocation;
use crate::memory::race::{Meeting, Other, Touch};

/// Checks that nobody else touches the same bytes of an allocation, which has a number in the launch, with nothing that orders the two; a store that
/// changes nothing may race with others that stored the same.
pub(crate) fn race(
    cx: &mut Context<'_>,
    warp: &Warp,
    (index, memory): (usize, &Allocation),
    (accessed, scope): (&Accessed<'_>, Option<MemoryScope>),
    changes_nothing: impl Fn() -> bool,
) -> Run<()> {
    let Accessed { offsets, addresses, bytes, mask, access } = *accessed;
    if mask == 0 || !cx.cluster.races.enabled() {
        return Ok(());
    }
    // Strong accesses are morally strong together where each is in the scope of the other.
    let within = |wide: MemoryScope| scope.is_some_and(|scope| scope >= wide);
    let alone = cx.cluster.blocks.len() == 1;
    let strong = within(if alone { MemoryScope::Cta } else { MemoryScope::Cluster });
    let touch = match (access.writes(), strong) {
        (false, false) => Touch::Read,
        (false, true) => Touch::ReadStrong,
        (true, false) => Touch::Write,
        (true, true) => Touch::WriteStrong,
    };
    let races = &mut cx.cluster.races;
    let inside = races.access_global((warp.accessor(), touch), addresses, bytes, mask);
    let mut earlier = inside.err().map(|conflict| (conflict.lane, conflict.earlier));
    if let Some(across) = &cx.launch.across {
        let stamps = &races.stamps(warp.seat(), within(MemoryScope::Gpu));
        let meeting = Meeting { stamps, pc: warp.pc, writes: access.writes() };
        let knows = |lane, stamp| races.knows_elsewhere(warp.seat(), lane, stamp);
        let met = across.access((index, memory), (offsets, bytes, mask), meeting, knows);
        earlier = earlier.or_else(|| met.map(|(lane, other)| elsewhere(cx, lane, other)));
    }
    let Some((lane, earlier)) = earlier else { return Ok(()) };
    if earlier.wrote && access == Access::Store && changes_nothing() {
        return Ok(());
    }
    let address = addresses[lane as usize];
    let detail = format!("{} of {bytes} bytes at global address {address:#x}", access.text());
    let mut trap = Trap::new(FaultKind::Race, detail).lane(lane).address(address).bytes(bytes);
    trap.other = Some(earlier);
    cx.found(trap)
}

/// An access of another cluster, for messages.
fn elsewhere(cx: &Context<'_>, lane: usize, other: Other) -> (u32, Earlier) {
    let Other { stamp, pc, wrote } = other;
    let (rank, warp) = stamp.place();
    let block = cx.launch.block_id(stamp.cluster().into(), rank);
    let by = By::Elsewhere { block, warp, lane: stamp.lane() };
    (crate::machine::warp::lane_number(lane), Earlier { pc, by, wrote })
}
