//! Moves between registers, and addresses of one space as those of another.

use kernel_ptx::{Operand, SpecialRegister, Type, Word};

use super::operands::{Decoded, Modifiers, Scope};
use super::{count, look_up};
use crate::code::{Clock, D2, Op, Place, Preset, Slot};
use crate::machine::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};

/// `mov`.
pub(super) fn mov(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let ty = mods.ty()?;
    let [d, a] = count(ops)?;
    let bits = ty.bits();
    if let Operand::Special(special) = a
        && let Some(what) = clock(*special)
    {
        return Ok(Op::Clock { d: cx.dest(d)?, what });
    }
    match (d, a) {
        (Operand::Vector(parts), a) => {
            let part_bits = part_bits(bits, parts.len())?;
            let parts = parts.iter().map(|part| cx.target(part)).collect::<Decoded<Vec<_>>>()?;
            let a = cx.source(a, bits)?;
            Ok(Op::Unpack { parts: parts.into(), a, part_bits })
        }
        (d, Operand::Vector(parts)) => {
            let part_bits = part_bits(bits, parts.len())?;
            let parts =
                parts.iter().map(|part| cx.source(part, part_bits)).collect::<Decoded<Vec<_>>>()?;
            Ok(Op::Pack { d: cx.dest(d)?, parts: parts.into(), part_bits })
        }
        (d, a) if ty == Type::Pred => {
            let a = cx.pred(a)?;
            Ok(Op::MovP { d: cx.dest_p(d)?, a })
        }
        (d, a) => match (cx.dest(d)?, cx.source(a, bits)?) {
            (Slot::W(d), Slot::W(a)) => Ok(Op::MovW { d, a }),
            (Slot::D(d), Slot::D(a)) => Ok(Op::MovD { d, a }),
            (Slot::Q(d), Slot::Q(a)) => Ok(Op::MovQ { d, a }),
            _ => Err("registers of different widths".to_owned()),
        },
    }
}

fn part_bits(bits: u32, parts: usize) -> Decoded<u32> {
    let parts = u32::try_from(parts).map_err(|_| "a vector that is too long")?;
    if parts == 0 || !bits.is_multiple_of(parts) || bits / parts < 8 {
        return Err(format!("{parts} parts of {bits} bits"));
    }
    Ok(bits / parts)
}

fn clock(special: SpecialRegister) -> Option<Clock> {
    let table = [
        (SpecialRegister::Clock, Clock::Low),
        (SpecialRegister::ClockHi, Clock::High),
        (SpecialRegister::Clock64, Clock::Whole),
        (SpecialRegister::Globaltimer, Clock::Whole),
        (SpecialRegister::GlobaltimerLo, Clock::Low),
        (SpecialRegister::GlobaltimerHi, Clock::High),
    ];
    look_up(&table, &special)
}

/// `cvta`, `cvta.to`.
pub(super) fn cvta(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let to = mods.word(Word::To);
    let space = mods.space()?.ok_or("a state space is missing")?;
    if mods.ty()?.bits() != 64 {
        return Err("addresses have 64 bits here".to_owned());
    }
    let [d, a] = count(ops)?;
    let (d, a) = (cx.dest_d(d)?, cx.d(a)?);
    let window = match space {
        Place::Global | Place::Const | Place::Generic => return Ok(Op::MovD { d, a }),
        Place::Shared => SHARED_WINDOW,
        Place::Local => LOCAL_WINDOW,
        Place::Param => PARAM_WINDOW,
    };
    let b = cx.preset_d(Preset::Double(window));
    Ok(Op::D2 { op: if to { D2::Sub } else { D2::Add }, d, a, b })
}

/// `isspacep`.
pub(super) fn isspacep(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let space = mods.space()?.ok_or("a state space is missing")?;
    let [d, a] = count(ops)?;
    let a = cx.d(a)?;
    Ok(Op::Isspacep { d: cx.dest_p(d)?, a, space })
}

/// `mapa`.
pub(super) fn mapa(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.space()?;
    let bits = mods.ty()?.bits();
    let [d, a, rank] = count(ops)?;
    let (a, rank) = (cx.source(a, bits)?, cx.w(rank)?);
    Ok(Op::Mapa { d: cx.dest(d)?, a, rank })
}

/// `getctarank`.
pub(super) fn getctarank(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.space()?;
    let bits = mods.ty()?.bits();
    let [d, a] = count(ops)?;
    let a = cx.source(a, bits)?;
    Ok(Op::CtaRank { d: cx.dest_w(d)?, a })
}
