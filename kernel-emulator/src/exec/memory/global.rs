//! Races on global memory: within a cluster, and with other clusters of the launch.

use super::Access;
use super::hazards::Accessed;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use crate::code::{Doubles, LANES, MemoryScope};
use crate::fault::{By, Bytes, Earlier, FaultKind, Run, Trap};
use crate::machine::warp::lanes;
use crate::machine::{Context, Launch, Warp};
use crate::memory::Allocation;
use crate::memory::race::{Epoch, Meeting, Other, Touch};

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
    for lane in lanes(mask).filter(|_| access.writes() && cx.launch.has_constants()) {
        not_constant(cx.launch, lane, (addresses[lane], bytes.into()))?;
    }
    if mask != 0 && overlaps(cx.launch) {
        for lane in lanes(mask) {
            let place = (addresses[lane], u64::from(bytes));
            beside_grid_before(cx, (warp, lane), place, access)?;
        }
    }
    if mask == 0 || !cx.cluster.races.enabled() {
        return Ok(());
    }
    // Strong accesses are morally strong together where each is in the scope of the other.
    let within = |wide: MemoryScope| scope.is_some_and(|scope| scope >= wide);
    // Whether the scope `.cta` has both is not asked within a cluster.
    let touch = match (access.writes(), within(MemoryScope::Cta)) {
        (false, false) => Touch::Read,
        (false, true) => Touch::ReadStrong,
        (true, false) => Touch::Write,
        (true, true) => Touch::WriteStrong,
    };
    if access.writes() {
        cx.launch.written[index].store(true, Relaxed);
    }
    let races = &mut cx.cluster.races;
    let inside = races.access_global((warp.accessor(), touch), addresses, bytes, mask);
    let mut earlier = inside.err().map(|conflict| (conflict.lane, conflict.earlier));
    if let Some(across) = &cx.launch.across {
        let stamp = races.stamp(warp.seat(), within(MemoryScope::Gpu));
        let writes = access.writes();
        let meeting = Meeting { stamp, by_lane: true, pc: warp.pc, writes };
        let knows = |lane, stamp| races.knows_elsewhere(warp.seat(), lane, stamp);
        let met = across.access((index, memory), (offsets, bytes, mask), meeting, knows);
        earlier = earlier.or_else(|| met.map(|(lane, other)| elsewhere(cx, lane, other)));
    }
    let Some((lane, earlier)) = earlier else { return Ok(()) };
    if earlier.wrote && access == Access::Store && changes_nothing() {
        return Ok(());
    }
    let address = addresses[lane as usize];
    let (what, count) = (access.text(), Bytes(bytes.into()));
    let detail = format!("{what} of {count} at global address {address:#x}");
    let mut trap = Trap::new(FaultKind::Race, detail).lane(lane).address(address).bytes(bytes);
    trap.other = Some(earlier);
    cx.found(trap)
}

/// Checks that nothing wrote in this launch what lanes read as memory that is constant while the kernel runs: caches that no store reaches may
/// have it (PTX ISA, "ld.global.nc"). A store that comes after such a read is not noticed.
pub(crate) fn constant(
    cx: &mut Context<'_>,
    warp: &Warp,
    addresses: &Doubles,
    bytes: u32,
    mask: u32,
) -> Run<()> {
    if !cx.launch.written.iter().any(|written| written.load(Relaxed)) {
        return Ok(());
    }
    let mut guess = warp.guess;
    for lane in lanes(mask) {
        let address = addresses[lane];
        // Whether it is in an allocation at all is checked where it is read.
        let Some(memory) = cx.launch.allocation(address, &mut guess) else { continue };
        if !cx.launch.written[guess].load(Relaxed) {
            continue;
        }
        let (first, end) = (address / 4 * 4, (address + u64::from(bytes)).next_multiple_of(4));
        for (at, part) in parts(first, end - first) {
            let mut writer = cx.cluster.races.writer(warp.seat(), (at, part));
            if let Some(across) = &cx.launch.across {
                let other = across.writer(guess, (at - memory.base, part), |_| true);
                writer = writer.or_else(|| other.map(|other| elsewhere(cx, lane, other).1));
            }
            let Some(earlier) = writer else { continue };
            let detail = format!(
                "a load of {} at global address {address:#x} by `.nc`, which is for memory that is constant while the kernel runs",
                Bytes(bytes.into())
            );
            let lane = crate::machine::warp::lane_number(lane);
            let mut trap =
                Trap::new(FaultKind::Race, detail).lane(lane).address(address).bytes(bytes);
            trap.other = Some(earlier);
            return cx.found(trap);
        }
    }
    Ok(())
}

/// Checks that bytes which a lane is going to write are in no `.const` variable. The constant proxy reads those, and no fence makes it see what
/// another one writes there; the manual has them for reading alone (PTX ISA, "Constant State Space").
#[cold]
fn not_constant(launch: &Launch<'_>, lane: usize, (address, bytes): (u64, u64)) -> Run<()> {
    let constant = |address| launch.code.constant(&launch.variables, address);
    if !constant(address) && !constant(address + bytes - 1) {
        return Ok(());
    }
    let detail = format!(
        "a write of {} at global address {address:#x}, in a `.const` variable, which cannot be written",
        Bytes(bytes)
    );
    let lane = crate::machine::warp::lane_number(lane);
    Err(Trap::new(FaultKind::WrongSpace, detail).lane(lane).address(address))
}

/// Whether the launch overlaps with the grid before or after it.
fn overlaps(launch: &Launch<'_>) -> bool {
    launch.writes.is_some() || launch.grid_before.is_some()
}

/// Notes what a lane writes for the grid that comes after; and checks, where races are looked for, that it touches nothing that the grid before writes, unless that one is known
/// to be over.
#[cold]
fn beside_grid_before(
    cx: &Context<'_>,
    (warp, lane): (&Warp, usize),
    (address, bytes): (u64, u64),
    access: Access,
) -> Run<()> {
    if let Some(writes) = cx.launch.writes.as_ref().filter(|_| access.writes()) {
        writes.lock().unwrap_or_else(PoisonError::into_inner).note(address, bytes);
    }
    let before = cx.launch.grid_before.as_ref();
    if !cx.cluster.races.enabled()
        || !before.is_some_and(|writes| writes.meets(address, bytes))
        || cx.cluster.races.knows_grid_before(warp.seat(), lane)
    {
        return Ok(());
    }
    let detail = format!(
        "{} of {} at global address {address:#x}, some of which the grid before writes: is a `griddepcontrol.wait` missing before?",
        access.text(),
        Bytes(bytes),
    );
    let lane = crate::machine::warp::lane_number(lane);
    cx.found(Trap::new(FaultKind::Race, detail).lane(lane).address(address))
}

/// Parts of bytes of global memory none of which is behind the end of a page of the race detector.
fn parts(address: u64, bytes: u64) -> impl Iterator<Item = (u64, u32)> {
    const PART: u64 = 256;
    let end = address + bytes;
    let mut at = address;
    std::iter::from_fn(move || {
        let next = (at / PART * PART + PART).min(end);
        let part = (at, u32::try_from(next - at).expect("a part is small"));
        at = next;
        (part.1 > 0).then_some(part)
    })
}

/// Checks that nobody else touches bytes of global memory that an asynchronous copy of a lane is going to write, as its epoch, with nothing that
/// orders the two. The bytes are in one allocation, and begin at a multiple of 4. Up to three bytes at their end that make no whole word are not
/// followed.
pub(crate) fn overwrite(
    cx: &mut Context<'_>,
    warp: &Warp,
    (epoch, lane): (Epoch, usize),
    (address, bytes): (u64, u64),
) -> Run<()> {
    if cx.launch.has_constants() {
        not_constant(cx.launch, lane, (address, bytes))?;
    }
    if overlaps(cx.launch) {
        beside_grid_before(cx, (warp, lane), (address, bytes), Access::Store)?;
    }
    if !cx.cluster.races.enabled() {
        return Ok(());
    }
    let mut guess = warp.guess;
    let memory = cx.launch.allocation(address, &mut guess).expect("the rows were checked");
    cx.launch.written[guess].store(true, Relaxed);
    for (at, bytes) in parts(address, bytes / 4 * 4) {
        let races = &mut cx.cluster.races;
        let inside = races.overwrite_global(epoch, (warp.accessor(), lane), (at, bytes));
        let mut earlier = inside.err().map(|conflict| conflict.earlier);
        if let Some(across) = &cx.launch.across {
            let stamp = races.stamp_of(epoch);
            let meeting = Meeting { stamp, by_lane: false, pc: warp.pc, writes: true };
            let knows = |lane, stamp| races.knows_elsewhere(warp.seat(), lane, stamp);
            let offsets = &[at - memory.base; LANES];
            let met = across.access((guess, memory), (offsets, bytes, 1 << lane), meeting, knows);
            earlier = earlier.or_else(|| met.map(|(lane, other)| elsewhere(cx, lane, other).1));
        }
        let Some(earlier) = earlier else { continue };
        let detail = format!("an asynchronous copy of {bytes} bytes to global address {at:#x}");
        let lane = crate::machine::warp::lane_number(lane);
        let mut trap = Trap::new(FaultKind::Race, detail).lane(lane).address(at).bytes(bytes);
        trap.other = Some(earlier);
        cx.found(trap)?;
    }
    Ok(())
}

/// Checks what an asynchronous copy that a lane issues is about to read from global memory: who wrote it in this launch has synchronised with the lane
/// since, and a proxy fence is between if that was a write through the generic proxy. The bytes are in one allocation.
pub(crate) fn async_read(
    cx: &mut Context<'_>,
    warp: &Warp,
    lane: usize,
    (address, bytes): (u64, u64),
) -> Run<()> {
    let mut guess = warp.guess;
    let memory = cx.launch.allocation(address, &mut guess).expect("the rows were checked");
    if overlaps(cx.launch) {
        beside_grid_before(cx, (warp, lane), (address, bytes), Access::Load)?;
    }
    if !cx.cluster.races.enabled() || !cx.launch.written[guess].load(Relaxed) {
        return Ok(());
    }
    for (at, bytes) in parts(address / 4 * 4, (address % 4 + bytes) / 4 * 4) {
        // It is no access of the lane, which others would have to know of: that nothing writes meanwhile is checked where the copy lands.
        let (races, seat) = (&mut cx.cluster.races, warp.seat());
        let mut unknown = races.unknown(seat, lane, (at, bytes));
        let mut unfenced = races.unfenced(seat, lane, (at, bytes));
        if let Some(across) = &cx.launch.across {
            let (place, own) = ((at - memory.base, bytes), cx.cluster.index);
            let late = across.writer(guess, place, |stamp| {
                u64::from(stamp.cluster()) != own && !races.knows_elsewhere(seat, lane, stamp)
            });
            let open =
                across.writer(guess, place, |stamp| races.unfenced_elsewhere(seat, lane, stamp));
            unknown = unknown.or_else(|| late.map(|other| elsewhere(cx, lane, other).1));
            unfenced = unfenced.or_else(|| open.map(|other| elsewhere(cx, lane, other).1));
        }
        if let Some(earlier) = unknown {
            let detail = format!("an asynchronous read of {bytes} bytes at global address {at:#x}");
            let lane = crate::machine::warp::lane_number(lane);
            let mut trap = Trap::new(FaultKind::Race, detail).lane(lane).address(at).bytes(bytes);
            trap.other = Some(earlier);
            cx.found(trap)?;
        }
        let Some(earlier) = unfenced else { continue };
        let detail = format!(
            "an asynchronous copy reads the {bytes} bytes at global address {at:#x} through the asynchronous proxy"
        );
        let lane = crate::machine::warp::lane_number(lane);
        let mut trap = Trap::new(FaultKind::ProxyFence, detail).lane(lane).address(at).bytes(bytes);
        trap.other = Some(earlier);
        cx.found(trap)?;
    }
    Ok(())
}

/// An access of another cluster, for messages.
pub(crate) fn elsewhere(cx: &Context<'_>, lane: usize, other: Other) -> (u32, Earlier) {
    let Other { stamp, pc, wrote } = other;
    let (rank, warp) = stamp.place();
    let block = cx.launch.block_id(stamp.cluster().into(), rank);
    let by =
        if stamp.is_copy() { By::Copy } else { By::Elsewhere { block, warp, lane: stamp.lane() } };
    (crate::machine::warp::lane_number(lane), Earlier { pc, by, wrote })
}
