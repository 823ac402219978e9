//! Calls, and the instructions by which lanes of a warp exchange values (PTX ISA, "Data Movement and
//! Conversion Instructions", "Parallel Synchronization and Communication Instructions").

use crate::code::{
    Call, Exchange, LANES, Members, P, Pred, Redux, Shfl, ShflMode, Slot, Vote, VoteResult, W,
    Words,
};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::Warp;
use crate::machine::warp::lanes;
use crate::numeric::scalar::{self, Selection};

/// Copies the arguments of a call to the callee's parameters.
pub(crate) fn enter(warp: &mut Warp, call: &Call, mask: u32) {
    for &(from, to, bytes) in &call.arguments {
        warp.local.copy(from, to, bytes, mask);
    }
    for &(from, to) in &call.registers_in {
        warp.regs.copy(from, to, mask);
    }
}

/// Copies the results of a call back.
pub(crate) fn leave(warp: &mut Warp, call: &Call, mask: u32) {
    for &(from, to, bytes) in &call.results {
        warp.local.copy(from, to, bytes, mask);
    }
    for &(from, to) in &call.registers_out {
        warp.regs.copy(from, to, mask);
    }
}

/// What lanes of a warp learn from one another.
pub(crate) fn exchange(warp: &mut Warp, op: &Exchange, mask: u32) -> Run<()> {
    match op {
        Exchange::Shfl(op) => return shfl(warp, op, mask),
        Exchange::Vote { op, d, a, members } => vote(warp, *op, *d, *a, *members, mask),
        Exchange::MatchAny { d, a, members } => match_any(warp, *d, *a, *members, mask),
        Exchange::MatchAll { d, p, a, members } => match_all(warp, (*d, *p), *a, *members, mask),
        Exchange::Redux { op, d, a, members } => redux(warp, *op, *d, *a, *members, mask),
        Exchange::Elect { d, p, members } => elect(warp, *d, *p, *members, mask),
    }
    Ok(())
}

/// `trap`, `brkpt`.
pub(crate) fn trap(breakpoint: bool, mask: u32) -> Trap {
    let name = if breakpoint { "brkpt" } else { "trap" };
    let detail = format!("the kernel executed `{name}`");
    Trap::new(FaultKind::Trap, detail).lane(mask.trailing_zeros())
}

/// `shfl.sync`. A lane that reads outside its segment gets its own value; one that reads a lane which
/// does not take part gets an undefined value.
fn shfl(warp: &mut Warp, op: &Shfl, mask: u32) -> Run<()> {
    let (a, b, c) = (warp.regs.w(op.a), warp.regs.w(op.b), warp.regs.w(op.c));
    for slot in [op.b, op.c] {
        let undefined = mask & !warp.regs.w_defined(slot);
        if undefined != 0 {
            let slot = Slot::W(slot);
            return Err(super::uninitialised(warp, slot, undefined, "chooses the source lane"));
        }
    }
    let source_defined = warp.regs.w_defined(op.a) & mask;
    let mut out: Words = [0; LANES];
    let (mut valid, mut defined) = (0, 0);
    for lane in (0u32..).take(LANES) {
        let i = lane as usize;
        let (amount, clamp, segment) = (b[i] & 31, c[i] & 31, c[i] >> 8 & 31);
        let last = lane & segment | clamp & !segment;
        let first = lane & segment;
        let (source, inside) = match op.mode {
            // The clamp of `.up` is the lowest lane.
            ShflMode::Up => {
                let source = lane.wrapping_sub(amount);
                (source, source.cast_signed() >= last.cast_signed())
            }
            ShflMode::Down => (lane + amount, lane + amount <= last),
            ShflMode::Bfly => (lane ^ amount, lane ^ amount <= last),
            ShflMode::Idx => {
                let source = first | amount & !segment;
                (source, source <= last)
            }
        };
        let source = if inside { source } else { lane };
        valid |= u32::from(inside) << lane;
        out[i] = a[source as usize % LANES];
        defined |= (source_defined >> (source % 32) & 1) << lane;
    }
    if let Some(p) = op.p {
        warp.regs.set_p(p, valid, mask, u32::MAX);
    }
    if let Some(d) = op.d {
        warp.regs.set_w(d, &out, mask, defined);
    }
    Ok(())
}

/// The lanes that take part with each lane: one group for each member mask.
fn groups(warp: &Warp, members: Members, mask: u32) -> Vec<u32> {
    match members {
        Members::All => vec![mask],
        Members::Mask(slot) => {
            let masks = warp.regs.w(slot);
            let mut groups: Vec<(u32, u32)> = Vec::new();
            for lane in lanes(mask) {
                match groups.iter_mut().find(|(member, _)| *member == masks[lane]) {
                    Some((_, group)) => *group |= 1 << lane,
                    None => groups.push((masks[lane], 1 << lane)),
                }
            }
            groups.into_iter().map(|(_, group)| group).collect()
        }
    }
}

/// `vote.sync`.
fn vote(warp: &mut Warp, op: Vote, d: VoteResult, a: Pred, members: Members, mask: u32) {
    for group in groups(warp, members, mask) {
        let yes = warp.regs.pred(a) & group;
        let defined = if warp.regs.p_defined(a.slot) & group == group { u32::MAX } else { 0 };
        let answer = match op {
            Vote::All => yes == group,
            Vote::Any => yes != 0,
            Vote::Uni => yes == group || yes == 0,
            Vote::Ballot => false,
        };
        match d {
            VoteResult::W(d) => warp.regs.set_w(d, &[yes; LANES], group, defined),
            VoteResult::P(d) => {
                warp.regs.set_p(d, if answer { u32::MAX } else { 0 }, group, defined);
            }
        }
    }
}

/// `match.any.sync`: the lanes with the same value.
fn match_any(warp: &mut Warp, d: W, a: Slot, members: W, mask: u32) {
    let values = warp.regs.wide(a);
    for group in groups(warp, Members::Mask(members), mask) {
        let mut out = [0; LANES];
        for lane in lanes(group) {
            out[lane] = lanes(group)
                .filter(|&other| values[other] == values[lane])
                .fold(0, |same, other| same | 1 << other);
        }
        let defined = if warp.regs.defined(a) & group == group { u32::MAX } else { 0 };
        warp.regs.set_w(d, &out, group, defined);
    }
}

/// `match.all.sync`: the members if all have the same value, and whether they do.
fn match_all(warp: &mut Warp, (d, p): (Option<W>, Option<P>), a: Slot, members: W, mask: u32) {
    let values = warp.regs.wide(a);
    for group in groups(warp, Members::Mask(members), mask) {
        let first = values[group.trailing_zeros() as usize];
        let same = lanes(group).all(|lane| values[lane] == first);
        let defined = if warp.regs.defined(a) & group == group { u32::MAX } else { 0 };
        if let Some(d) = d {
            warp.regs.set_w(d, &[if same { group } else { 0 }; LANES], group, defined);
        }
        if let Some(p) = p {
            warp.regs.set_p(p, if same { u32::MAX } else { 0 }, group, defined);
        }
    }
}

/// `redux.sync`.
fn redux(warp: &mut Warp, op: Redux, d: W, a: W, members: W, mask: u32) {
    let values = *warp.regs.w(a);
    for group in groups(warp, Members::Mask(members), mask) {
        let values = lanes(group).map(|lane| values[lane]);
        let result = match op {
            Redux::Add => values.fold(0, u32::wrapping_add),
            Redux::MinU => values.fold(u32::MAX, u32::min),
            Redux::MaxU => values.fold(0, u32::max),
            Redux::MinS => values.map(u32::cast_signed).fold(i32::MAX, i32::min).cast_unsigned(),
            Redux::MaxS => values.map(u32::cast_signed).fold(i32::MIN, i32::max).cast_unsigned(),
            Redux::And => values.fold(u32::MAX, |x, y| x & y),
            Redux::Or => values.fold(0, |x, y| x | y),
            Redux::Xor => values.fold(0, |x, y| x ^ y),
            Redux::FMin { which, abs, nan } => {
                let selection = Selection { propagate_nan: nan, ..Selection::PLAIN };
                let key = |x: u32| if abs { scalar::abs_f32(x, false) } else { x };
                values
                    .map(key)
                    .reduce(|x, y| scalar::extreme_f32(which, x, y, selection))
                    .expect("a group has a lane")
            }
        };
        let defined = if warp.regs.w_defined(a) & group == group { u32::MAX } else { 0 };
        warp.regs.set_w(d, &[result; LANES], group, defined);
    }
}

/// `elect.sync`: the lowest member leads, and every member learns which lane that is.
fn elect(warp: &mut Warp, d: Option<W>, p: P, members: W, mask: u32) {
    for group in groups(warp, Members::Mask(members), mask) {
        let leader = group.trailing_zeros();
        warp.regs.set_p(p, 1 << leader, group, u32::MAX);
        if let Some(d) = d {
            warp.regs.set_w(d, &[leader; LANES], group, u32::MAX);
        }
    }
}
