//! `mov` between registers, or a register and the parts of a vector, and the clocks.

use crate::code::{Clock, D, LANES, P, Pred, Slot, W};
use crate::machine::{Context, Registers, Warp};

/// `mov` of 32 bits and fewer.
pub(crate) fn mov_w(regs: &mut Registers, d: W, a: W, mask: u32) {
    let (value, defined) = (*regs.w(a), regs.w_defined(a));
    regs.set_w(d, &value, mask, defined);
}

/// `mov` of 64 bits.
pub(crate) fn mov_d(regs: &mut Registers, d: D, a: D, mask: u32) {
    let (value, defined) = (*regs.d(a), regs.d_defined(a));
    regs.set_d(d, &value, mask, defined);
}

/// `mov.pred`, `not.pred`.
pub(crate) fn mov_p(regs: &mut Registers, d: P, a: Pred, mask: u32) {
    let (value, defined) = (regs.pred(a), regs.p_defined(a.slot));
    regs.set_p(d, value, mask, defined);
}

/// `mov.b64 d, {a, b}`: the first part is the lowest.
pub(crate) fn pack(regs: &mut Registers, d: Slot, parts: &[Slot], part_bits: u32, mask: u32) {
    let keep = u64::MAX >> (64 - part_bits);
    let mut defined = u32::MAX;
    let mut out = [0u128; LANES];
    for (i, &part) in (0..).zip(parts) {
        defined &= regs.defined(part);
        let value = regs.wide(part);
        for lane in 0..LANES {
            out[lane] |= u128::from(value[lane] & keep) << (part_bits * i);
        }
    }
    if let Slot::Q(d) = d {
        regs.set_q(d, &out, mask, defined);
    } else {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "narrower registers take at most 64 bits"
        )]
        let out = out.map(|value| value as u64);
        regs.set_wide(d, &out, mask, defined);
    }
}

/// `mov.b64 {d, e}, a`.
pub(crate) fn unpack(
    regs: &mut Registers,
    parts: &[Option<Slot>],
    a: Slot,
    part_bits: u32,
    mask: u32,
) {
    let keep = u64::MAX >> (64 - part_bits);
    let defined = regs.defined(a);
    let value: [u128; LANES] = match a {
        Slot::Q(a) => *regs.q(a),
        Slot::W(_) | Slot::D(_) | Slot::P(_) => regs.wide(a).map(u128::from),
    };
    for (i, part) in (0..).zip(parts) {
        if let Some(part) = part {
            #[expect(clippy::cast_possible_truncation, reason = "a part has at most 64 bits")]
            let out = value.map(|value| (value >> (part_bits * i)) as u64 & keep);
            regs.set_wide(*part, &out, mask, defined);
        }
    }
}

/// `%clock`, `%clock64`, `%globaltimer`: instructions that this worker ran, so that results repeat.
pub(crate) fn clock(cx: &Context<'_>, warp: &mut Warp, d: Slot, what: Clock, mask: u32) {
    let now = cx.counters.warp_instructions;
    let value = match what {
        Clock::Low => now & 0xFFFF_FFFF,
        Clock::High => now >> 32,
        Clock::Whole => now,
    };
    warp.regs.set_wide(d, &[value; LANES], mask, mask);
}
