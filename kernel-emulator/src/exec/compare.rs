//! Comparison and selection (PTX ISA, "Comparison and Selection Instructions", "Half Precision
//! Comparison Instructions"), and logic on predicates.

use crate::code::{
    Compare, D, Doubles, HalfCompare, LANES, P, Pred, Q, SetHalves, SetResult, Slot, W, Words,
};
use crate::machine::Registers;
use crate::numeric::compare::{self, Comparison, Join};
use crate::numeric::format::Format;
use crate::numeric::integer::Int;
use crate::numeric::scalar::{self, Property};

#[inline]
fn bits(f: impl Fn(usize) -> bool) -> u32 {
    let mut out = 0;
    for lane in 0..LANES {
        out |= u32::from(f(lane)) << lane;
    }
    out
}

/// Native comparison of ordered values.
#[inline]
fn ordered<T: PartialOrd + Copy>(
    op: Comparison,
    a: impl Fn(usize) -> T,
    b: impl Fn(usize) -> T,
) -> u32 {
    match op {
        Comparison::Equal => bits(|lane| a(lane) == b(lane)),
        // `.ne` is false where an operand is NaN, unlike the host's.
        Comparison::NotEqual => bits(|lane| a(lane) < b(lane) || a(lane) > b(lane)),
        Comparison::Less => bits(|lane| a(lane) < b(lane)),
        Comparison::LessEqual => bits(|lane| a(lane) <= b(lane)),
        Comparison::Greater => bits(|lane| a(lane) > b(lane)),
        Comparison::GreaterEqual => bits(|lane| a(lane) >= b(lane)),
        Comparison::EqualUnordered
        | Comparison::NotEqualUnordered
        | Comparison::LessUnordered
        | Comparison::LessEqualUnordered
        | Comparison::GreaterUnordered
        | Comparison::GreaterEqualUnordered
        | Comparison::Number
        | Comparison::NotANumber => bits(|lane| op.holds(a(lane).partial_cmp(&b(lane)))),
    }
}

/// The lanes where a comparison holds.
#[inline]
fn compare(regs: &Registers, cmp: Compare, a: Slot, b: Slot) -> u32 {
    match (cmp, a, b) {
        (Compare::Int(op, Int::S32), Slot::W(a), Slot::W(b)) => {
            let (a, b) = (regs.w(a), regs.w(b));
            ordered(op, |lane| a[lane].cast_signed(), |lane| b[lane].cast_signed())
        }
        (Compare::Int(op, Int::U32), Slot::W(a), Slot::W(b)) => {
            let (a, b) = (regs.w(a), regs.w(b));
            ordered(op, |lane| a[lane], |lane| b[lane])
        }
        (Compare::Int(op, Int::U64), Slot::D(a), Slot::D(b)) => {
            let (a, b) = (regs.d(a), regs.d(b));
            ordered(op, |lane| a[lane], |lane| b[lane])
        }
        (Compare::Int(op, Int::S64), Slot::D(a), Slot::D(b)) => {
            let (a, b) = (regs.d(a), regs.d(b));
            ordered(op, |lane| a[lane].cast_signed(), |lane| b[lane].cast_signed())
        }
        (Compare::F32 { op, ftz: false }, Slot::W(a), Slot::W(b)) => {
            let (a, b) = (regs.w(a), regs.w(b));
            ordered(op, |lane| f32::from_bits(a[lane]), |lane| f32::from_bits(b[lane]))
        }
        (Compare::Int(op, ty), a, b) => {
            let (a, b) = (regs.wide(a), regs.wide(b));
            bits(|lane| compare::integers(op, ty, a[lane], b[lane]))
        }
        (Compare::F32 { op, ftz }, a, b) => floats(regs, op, Format::F32, ftz, a, b),
        (Compare::F64(op), a, b) => floats(regs, op, Format::F64, false, a, b),
        (Compare::Half { op, half, ftz }, a, b) => floats(regs, op, half.format(), ftz, a, b),
    }
}

fn floats(regs: &Registers, op: Comparison, format: Format, ftz: bool, a: Slot, b: Slot) -> u32 {
    let (a, b) = (regs.wide(a), regs.wide(b));
    let keep = u64::MAX >> (64 - format.bits());
    bits(|lane| compare::floats(op, format, a[lane] & keep, b[lane] & keep, ftz))
}

/// `setp` with one result.
pub(crate) fn setp(regs: &mut Registers, cmp: Compare, d: P, a: Slot, b: Slot, mask: u32) {
    let value = compare(regs, cmp, a, b);
    let defined = regs.defined(a) & regs.defined(b);
    regs.set_p(d, value, mask, defined);
}

/// A comparison, joined with the third operand: the result, that of the negation, and where both are defined.
fn joined(
    regs: &Registers,
    value: u32,
    defined: u32,
    (join, pred): (Join, Pred),
) -> (u32, u32, u32) {
    let c = regs.pred(pred);
    let with = defined & regs.p_defined(pred.slot);
    match join {
        Join::None => (value, !value, defined),
        Join::And => (value & c, !value & c, with),
        Join::Or => (value | c, !value | c, with),
        Join::Xor => (value ^ c, !value ^ c, with),
    }
}

/// `setp` with a second result, or a third operand.
pub(crate) fn setp_join(
    regs: &mut Registers,
    cmp: Compare,
    results: [Option<P>; 2],
    (a, b): (Slot, Slot),
    with: (Join, Pred),
    mask: u32,
) {
    let value = compare(regs, cmp, a, b);
    let defined = regs.defined(a) & regs.defined(b);
    let (p, q, defined) = joined(regs, value, defined, with);
    for (slot, value) in results.into_iter().zip([p, q]) {
        if let Some(slot) = slot {
            regs.set_p(slot, value, mask, defined);
        }
    }
}

/// The lanes where a comparison holds for the low, and for the high halves.
fn compare_halves(regs: &Registers, cmp: HalfCompare, a: W, b: W) -> [u32; 2] {
    let (a, b) = (regs.w(a), regs.w(b));
    let format = cmp.half.format();
    [0, 16].map(|shift| {
        bits(|lane| {
            let part = |x: &Words| u64::from(x[lane] >> shift & 0xFFFF);
            compare::floats(cmp.op, format, part(a), part(b), cmp.ftz)
        })
    })
}

/// `setp` on two halves.
pub(crate) fn setp_halves(
    regs: &mut Registers,
    cmp: HalfCompare,
    results: [Option<P>; 2],
    (a, b): (W, W),
    with: (Join, Pred),
    mask: u32,
) {
    let values = compare_halves(regs, cmp, a, b);
    let defined = regs.w_defined(a) & regs.w_defined(b);
    let values = values.map(|value| joined(regs, value, defined, with));
    for (slot, (value, _, defined)) in results.into_iter().zip(values) {
        if let Some(slot) = slot {
            regs.set_p(slot, value, mask, defined);
        }
    }
}

/// `set`.
pub(crate) fn set(
    regs: &mut Registers,
    (cmp, to): (Compare, SetResult),
    d: W,
    (a, b): (Slot, Slot),
    with: (Join, Pred),
    mask: u32,
) {
    let value = compare(regs, cmp, a, b);
    let defined = regs.defined(a) & regs.defined(b);
    let (value, _, defined) = joined(regs, value, defined, with);
    let yes = match to {
        SetResult::Ones => u32::MAX,
        SetResult::Ones16 => 0xFFFF,
        SetResult::F32 => compare::set_f32(true),
        SetResult::Half(half) => half.one().into(),
    };
    let mut out = [0; LANES];
    for (lane, out) in out.iter_mut().enumerate() {
        *out = if value >> lane & 1 != 0 { yes } else { 0 };
    }
    regs.set_w(d, &out, mask, defined);
}

/// `set` on two halves.
pub(crate) fn set_halves(
    regs: &mut Registers,
    (cmp, to): (HalfCompare, SetHalves),
    d: W,
    (a, b): (W, W),
    with: (Join, Pred),
    mask: u32,
) {
    let values = compare_halves(regs, cmp, a, b);
    let defined = regs.w_defined(a) & regs.w_defined(b);
    let [(low, _, defined), (high, ..)] = values.map(|value| joined(regs, value, defined, with));
    let yes = match to {
        SetHalves::Ones => 0xFFFF,
        SetHalves::One(half) => u32::from(half.one()),
    };
    let mut out = [0; LANES];
    for (lane, out) in out.iter_mut().enumerate() {
        *out = ((low >> lane & 1) * yes) | ((high >> lane & 1) * (yes << 16));
    }
    regs.set_w(d, &out, mask, defined);
}

/// The defined lanes of a selection: only what is selected matters.
fn selected(p: u32, p_defined: u32, a: u32, b: u32) -> u32 {
    p_defined & (p & a | !p & b)
}

/// `selp` of 32 bits.
pub(crate) fn selp_w(regs: &mut Registers, d: W, a: W, b: W, p: Pred, mask: u32) {
    let choose = regs.pred(p);
    let (xs, ys) = (regs.w(a), regs.w(b));
    let mut out = [0; LANES];
    for lane in 0..LANES {
        let take = (choose >> lane & 1).wrapping_neg();
        out[lane] = xs[lane] & take | ys[lane] & !take;
    }
    let defined = selected(choose, regs.p_defined(p.slot), regs.w_defined(a), regs.w_defined(b));
    regs.set_w(d, &out, mask, defined);
}

/// `selp` of 64 bits.
pub(crate) fn selp_d(regs: &mut Registers, d: D, a: D, b: D, p: Pred, mask: u32) {
    let choose = regs.pred(p);
    let (xs, ys) = (regs.d(a), regs.d(b));
    let mut out: Doubles = [0; LANES];
    for lane in 0..LANES {
        let take = u64::from(choose >> lane & 1).wrapping_neg();
        out[lane] = xs[lane] & take | ys[lane] & !take;
    }
    let defined = selected(choose, regs.p_defined(p.slot), regs.d_defined(a), regs.d_defined(b));
    regs.set_d(d, &out, mask, defined);
}

/// `selp` of 128 bits.
pub(crate) fn selp_q(regs: &mut Registers, d: Q, a: Q, b: Q, p: Pred, mask: u32) {
    let choose = regs.pred(p);
    let (xs, ys) = (*regs.q(a), *regs.q(b));
    let out = std::array::from_fn(|lane| if choose >> lane & 1 != 0 { xs[lane] } else { ys[lane] });
    let (in_a, in_b) = (regs.defined(Slot::Q(a)), regs.defined(Slot::Q(b)));
    let defined = selected(choose, regs.p_defined(p.slot), in_a, in_b);
    regs.set_q(d, &out, mask, defined);
}

/// `slct`: the first operand where the third is not negative.
pub(crate) fn slct(
    regs: &mut Registers,
    float: Option<bool>,
    d: Slot,
    (a, b, c): (Slot, Slot, W),
    mask: u32,
) {
    let zs = regs.w(c);
    let choose = bits(|lane| match float {
        None => compare::select_s32(zs[lane]),
        Some(ftz) => compare::select_f32(zs[lane], ftz),
    });
    let defined = selected(choose, regs.w_defined(c), regs.defined(a), regs.defined(b));
    let (xs, ys) = (regs.wide(a), regs.wide(b));
    let out = std::array::from_fn(|lane| if choose >> lane & 1 != 0 { xs[lane] } else { ys[lane] });
    regs.set_wide(d, &out, mask, defined);
}

/// `testp`.
pub(crate) fn testp(regs: &mut Registers, what: Property, d: P, a: Slot, mask: u32) {
    let format = if matches!(a, Slot::D(_)) { Format::F64 } else { Format::F32 };
    let x = regs.wide(a);
    let value = bits(|lane| scalar::test_property(format, x[lane], what));
    let defined = regs.defined(a);
    regs.set_p(d, value, mask, defined);
}

/// `and`, `or`, `xor` on predicates. False and-ed, or true or-ed, with anything is defined.
pub(crate) fn logic(regs: &mut Registers, op: Join, d: P, (a, b): (Pred, Pred), mask: u32) {
    let (xs, ys) = (regs.pred(a), regs.pred(b));
    let (dx, dy) = (regs.p_defined(a.slot), regs.p_defined(b.slot));
    let (value, defined) = match op {
        Join::None => (xs, dx),
        Join::And => (xs & ys, dx & dy | dx & !xs | dy & !ys),
        Join::Or => (xs | ys, dx & dy | dx & xs | dy & ys),
        Join::Xor => (xs ^ ys, dx & dy),
    };
    // An undefined operand may hold anything: where the other decides, its bits must not matter.
    let value = match op {
        Join::And => value & !(dx & !xs | dy & !ys),
        Join::Or => value | dx & xs | dy & ys,
        Join::None | Join::Xor => value,
    };
    regs.set_p(d, value, mask, defined);
}
