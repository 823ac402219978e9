//! Executing one instruction for the lanes of a mask.
//!
//! The files mirror those of the instruction table: arithmetic, conversion, memory, matrices,
//! asynchronous copies, barriers, control.

pub(crate) mod arith;
pub(crate) mod async_copy;
pub(crate) mod barrier;
pub(crate) mod bulk;
pub(crate) mod compare;
pub(crate) mod control;
pub(crate) mod convert;
pub(crate) mod fence;
pub(crate) mod launch_control;
pub(crate) mod matrix;
pub(crate) mod memory;
pub(crate) mod moves;
pub(crate) mod print;
pub(crate) mod setmaxnreg;
pub(crate) mod tcgen05;
pub(crate) mod tensormap;
pub(crate) mod tma;
pub(crate) mod wgmma;

use crate::code::{Op, Slot};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::{Context, Flow, Warp};

/// Executes an instruction that the warp's loop does not handle itself. What changes more than the warp's registers and local memory
/// says so; atomic operations and mbarriers do that where they change something.
#[inline]
pub(crate) fn step(cx: &mut Context<'_>, warp: &mut Warp, op: &Op, mask: u32) -> Run<Flow> {
    match op {
        Op::W1 { op, d, a } => arith::w1(&mut warp.regs, *op, *d, *a, mask),
        Op::W2 { op, d, a, b } => arith::w2(&mut warp.regs, *op, *d, *a, *b, mask),
        Op::W3 { op, d, a, b, c } => arith::w3(&mut warp.regs, *op, *d, [*a, *b, *c], mask),
        Op::D1 { op, d, a } => arith::d1(&mut warp.regs, *op, *d, *a, mask),
        Op::D2 { op, d, a, b } => arith::d2(&mut warp.regs, *op, *d, *a, *b, mask),
        Op::D3 { op, d, a, b, c } => arith::d3(&mut warp.regs, *op, *d, [*a, *b, *c], mask),
        Op::Divide { remainder, ty, d, a, b } => {
            arith::divide(warp, (*remainder, *ty), *d, (*a, *b), mask);
        }
        Op::ShiftD { op, d, a, b } => arith::shift_d(&mut warp.regs, *op, *d, *a, *b, mask),
        Op::CountD { op, d, a } => arith::count_d(&mut warp.regs, *op, *d, *a, mask),
        Op::Wide { signed, d, a, b, c } => {
            arith::wide(&mut warp.regs, *signed, *d, (*a, *b, *c), mask);
        }
        Op::Bfi { d, a, b, c, e } => arith::bfi(&mut warp.regs, *d, [*a, *b, *c, *e], mask),
        Op::BfiD(field) => arith::bfi_d(&mut warp.regs, field, mask),
        Op::BfeD { signed, d, a, b, c } => {
            arith::bfe_d(&mut warp.regs, *signed, *d, (*a, *b, *c), mask);
        }
        Op::Carry(carry) => arith::carry(warp, carry, mask),
        Op::Lop3Pred(op) => arith::lop3_pred(&mut warp.regs, op, mask),
        Op::Setp { cmp, d, a, b } => compare::setp(&mut warp.regs, *cmp, *d, *a, *b, mask),
        Op::SetpJoin { cmp, results, a, b, with } => {
            compare::setp_join(&mut warp.regs, *cmp, **results, (*a, *b), *with, mask);
        }
        Op::SetpHalves { cmp, results, a, b, with } => {
            compare::setp_halves(&mut warp.regs, *cmp, **results, (*a, *b), *with, mask);
        }
        Op::Set { cmp, to, d, a, b, with } => {
            compare::set(&mut warp.regs, (*cmp, *to), *d, (*a, *b), *with, mask);
        }
        Op::SetHalves { cmp, to, d, a, b, with } => {
            compare::set_halves(&mut warp.regs, (*cmp, *to), *d, (*a, *b), *with, mask);
        }
        Op::SelpW { d, a, b, p } => compare::selp_w(&mut warp.regs, *d, *a, *b, *p, mask),
        Op::SelpD { d, a, b, p } => compare::selp_d(&mut warp.regs, *d, *a, *b, *p, mask),
        Op::SelpQ { d, a, b, p } => compare::selp_q(&mut warp.regs, *d, *a, *b, *p, mask),
        Op::Slct { float, d, a, b, c } => {
            compare::slct(&mut warp.regs, *float, *d, (*a, *b, *c), mask);
        }
        Op::Testp { what, d, a } => compare::testp(&mut warp.regs, *what, *d, *a, mask),
        Op::MovW { d, a } => moves::mov_w(&mut warp.regs, *d, *a, mask),
        Op::MovD { d, a } => moves::mov_d(&mut warp.regs, *d, *a, mask),
        Op::MovQ { d, a } => warp.regs.copy(Slot::Q(*a), Slot::Q(*d), mask),
        Op::MovP { d, a } => moves::mov_p(&mut warp.regs, *d, *a, mask),
        Op::Pack { d, parts, part_bits } => {
            moves::pack(&mut warp.regs, *d, parts, *part_bits, mask);
        }
        Op::Unpack { parts, a, part_bits: n } => moves::unpack(&mut warp.regs, parts, *a, *n, mask),
        Op::Logic { op, d, a, b } => compare::logic(&mut warp.regs, *op, *d, (*a, *b), mask),
        Op::Clock { d, what } => moves::clock(cx.changing(), warp, *d, *what, mask),
        Op::Convert(convert) => convert::convert(&mut warp.regs, convert, mask),
        Op::Load(load) => memory::load(cx, warp, load, mask)?,
        Op::Store(store) => memory::store(cx.changing(), warp, store, mask)?,
        Op::Zeros(zeros) => memory::zeros(cx.changing(), warp, zeros, mask)?,
        Op::Atom(atom) => memory::atomic::atom(cx, warp, atom, mask)?,
        Op::Isspacep { d, a, space } => memory::isspacep(cx, warp, *d, *a, *space, mask),
        Op::Mapa { d, a, rank } => memory::mapa(cx, warp, *d, (*a, *rank), mask)?,
        Op::CtaRank { d, a } => memory::cta_rank(warp, *d, *a, mask),
        Op::CpAsync(op) => async_copy::step(cx.changing(), warp, op, mask)?,
        Op::Bulk(op) => bulk::step(cx.changing(), warp, op, mask)?,
        Op::TryCancel(op) => launch_control::try_cancel(cx.changing(), warp, op, mask)?,
        Op::QueryCancel(op) => launch_control::query(warp, op, mask),
        Op::TensormapReplace(replace) => tensormap::replace(cx.changing(), warp, replace, mask)?,
        Op::TensormapCopy(op) => tensormap::copy(cx.changing(), warp, op, mask)?,
        Op::Exchange(op) => control::exchange(warp, op, mask)?,
        Op::Activemask { d } => warp.regs.set_w(*d, &[mask; 32], mask, mask),
        Op::Ldmatrix(op) => matrix::ldmatrix(cx, warp, op, mask)?,
        Op::Stmatrix(op) => matrix::stmatrix(cx.changing(), warp, op, mask)?,
        Op::Movmatrix { d, a } => matrix::movmatrix(warp, *d, *a, mask)?,
        Op::Mma(mma) => matrix::mma(cx, warp, mma, mask)?,
        Op::Wgmma(op) => return wgmma::step(cx.changing(), warp, op, mask),
        Op::Tcgen05(op) => return tcgen05::step(cx.changing(), warp, op, mask),
        Op::Setmaxnreg { change, count } => {
            return setmaxnreg::set(cx.changing(), warp, *change, *count, mask);
        }
        Op::GridWait => cx.cluster.races.wait_for_grid(warp.threads(mask)),
        Op::WarpSync { .. } | Op::Hint => {}
        Op::Bar(bar) => return barrier::bar(cx.changing(), warp, bar, mask),
        Op::ClusterArrive { relaxed, .. } => {
            return barrier::cluster_arrive(cx.changing(), warp, *relaxed, mask);
        }
        Op::ClusterWait { .. } => return barrier::cluster_wait(cx.changing(), warp, mask),
        Op::Mbarrier(op) => return barrier::mbarrier(cx, warp, op, mask),
        Op::Fence(fence) => fence::fence(cx, warp, *fence, mask)?,
        Op::Nanosleep => return Ok(Flow::Yield),
        Op::Trap { breakpoint } => return Err(control::trap(*breakpoint, mask)),
        Op::Vprintf { format, arguments, result } => {
            print::vprintf(cx.changing(), warp, *format, *arguments, *result, mask)?;
        }
        Op::AssertFail { message, file, line } => {
            return Err(print::assert_fail(cx, warp, [*message, *file, *line], mask));
        }
        Op::Bra { .. } | Op::BrxIdx { .. } | Op::Call(_) | Op::Ret | Op::Exit => {
            unreachable!("the warp's loop branches itself")
        }
    }
    Ok(Flow::Next)
}

/// The fault of using lanes of a register that were never written, or that a division by zero wrote.
#[cold]
pub(crate) fn uninitialised(warp: &Warp, slot: Slot, lanes: u32, use_: &str) -> Trap {
    let by_zero = warp.by_zero.filter(|division| division.lanes & lanes != 0);
    let (kind, detail) = if by_zero.is_some() && warp.unwritten.is_none() {
        let detail = format!(
            "comes from the result of a division by zero, which is not specified, and {use_}"
        );
        (FaultKind::Unspecified, detail)
    } else {
        let detail = format!("was never written, or comes from a value that was not, and {use_}");
        (FaultKind::Uninitialised, detail)
    };
    let lane = by_zero.map_or(lanes, |division| division.lanes & lanes).trailing_zeros();
    let mut trap = Trap::new(kind, detail).lane(lane);
    trap.slot = Some(slot);
    trap.unwritten = warp.unwritten;
    trap.by_zero = by_zero;
    trap
}
