//! `setmaxnreg` (PTX ISA, "setmaxnreg").

use crate::code::RegisterChange;
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::warpgroup::WARPS;
use crate::machine::{Context, Flow, State, Warp};

/// `setmaxnreg`: the warp releases registers, or waits until it gets more.
pub(crate) fn set(
    cx: &mut Context<'_>,
    warp: &Warp,
    change: RegisterChange,
    count: u32,
    mask: u32,
) -> Run<Flow> {
    if cx.launch.code.registers.is_none() {
        return Ok(Flow::Next);
    }
    if mask != u32::MAX {
        let detail =
            format!("`setmaxnreg` needs all 32 lanes of each warp, only {mask:#010x} are there");
        let lane = (!mask).trailing_zeros();
        return Err(Trap::new(FaultKind::WarpDivergence, detail).lane(lane));
    }
    let index = warp.index as usize;
    let group = index / WARPS as usize;
    let pool = &mut cx.block().registers;
    let own = pool.warps[index];
    let illegal = |detail: String| Err(Trap::new(FaultKind::IllegalOperand, detail));
    match change {
        RegisterChange::Release if count > own => {
            return illegal(format!(
                "`setmaxnreg.dec` to {count} registers, of a warp that has {own} for each thread"
            ));
        }
        RegisterChange::Take if count < own => {
            return illegal(format!(
                "`setmaxnreg.inc` to {count} registers, of a warp that has {own} for each thread"
            ));
        }
        RegisterChange::Release | RegisterChange::Take => {}
    }
    let executed = pool.executed[index];
    match pool.history[group].get(executed) {
        Some(&other) if other != count => {
            return illegal(format!(
                "{count} registers, and another warp of the warpgroup executed `setmaxnreg` for {other}: all four need the same"
            ));
        }
        Some(_) => {}
        None => {
            let first = group * WARPS as usize;
            let gone = pool.left >> first & ((1 << WARPS) - 1);
            if gone != 0 {
                let gone = first + gone.trailing_zeros() as usize;
                let detail = format!(
                    "`setmaxnreg` needs the four warps of a warpgroup, and warp {gone} has left the kernel"
                );
                return Err(Trap::new(FaultKind::WarpDivergence, detail));
            }
            pool.history[group].push(count);
        }
    }
    let needed = 32 * count.saturating_sub(own);
    if needed > pool.free {
        return Ok(Flow::Retry(State::Registers { count }));
    }
    pool.free = pool.free + 32 * own - 32 * count;
    pool.warps[index] = count;
    pool.executed[index] += 1;
    cx.block().events += 1;
    Ok(Flow::Next)
}

/// The last lanes of a warp leave.
///
/// # Errors
/// The other warps of the warpgroup executed a `setmaxnreg` that this one did not.
pub(crate) fn leaves(cx: &mut Context<'_>, warp: &Warp) -> Run<()> {
    let pool = &mut cx.block().registers;
    let index = warp.index as usize;
    pool.left |= 1 << index;
    let (executed, all) = (pool.executed[index], &pool.history[index / WARPS as usize]);
    let Some(count) = all.get(executed) else { return Ok(()) };
    let detail = format!(
        "the warp leaves the kernel without the `setmaxnreg` for {count} registers that another warp of its warpgroup executed"
    );
    Err(Trap::new(FaultKind::WarpDivergence, detail))
}
