//! `cvt`.

use kernel_ptx::{Operand, Type, Word};

use super::operands::{Decoded, Modifiers, Scope, register_bits};
use super::{count, look_up};
use crate::code::{Convert, ConvertKind, Op};
use crate::numeric::convert::{Conversion, Minifloat, Type as Scalar};
use crate::numeric::format::{Overflow, Round};
use crate::numeric::narrow::Half;
use crate::numeric::scalar::Clamp;

fn scalar(ty: Type) -> Option<Scalar> {
    let table = [
        (Type::U8, Scalar::U8),
        (Type::U16, Scalar::U16),
        (Type::U32, Scalar::U32),
        (Type::U64, Scalar::U64),
        (Type::S8, Scalar::S8),
        (Type::S16, Scalar::S16),
        (Type::S32, Scalar::S32),
        (Type::S64, Scalar::S64),
        (Type::F16, Scalar::F16),
        (Type::Bf16, Scalar::Bf16),
        (Type::Tf32, Scalar::Tf32),
        (Type::F32, Scalar::F32),
        (Type::F64, Scalar::F64),
    ];
    look_up(&table, &ty)
}

fn half(ty: Type) -> Option<Half> {
    look_up(&[(Type::F16x2, Half::F16), (Type::Bf16x2, Half::Bf16)], &ty)
}

fn mini(ty: Type) -> Option<Minifloat> {
    let table = [
        (Type::E4m3x2, Minifloat::E4m3),
        (Type::E5m2x2, Minifloat::E5m2),
        (Type::E3m2x2, Minifloat::E3m2),
        (Type::E2m3x2, Minifloat::E2m3),
        (Type::E2m1x2, Minifloat::E2m1),
    ];
    look_up(&table, &ty)
}

/// `cvt`, `cvt.pack`.
pub(super) fn cvt(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    if mods.word(Word::PackWord) {
        return pack(cx, mods, ops);
    }
    if mods.word(Word::Rs) {
        return Err("`.rs` is not modelled".to_owned());
    }
    let integral = mods.one_of(&[
        (Word::Rni, Round::NearestEven),
        (Word::Rzi, Round::Zero),
        (Word::Rmi, Round::Down),
        (Word::Rpi, Round::Up),
    ]);
    let round = mods.one_of(&[
        (Word::Rn, Round::NearestEven),
        (Word::Rz, Round::Zero),
        (Word::Rm, Round::Down),
        (Word::Rp, Round::Up),
        (Word::Rna, Round::NearestAway),
    ]);
    let flush = mods.word(Word::Ftz);
    let clamp = if mods.word(Word::Sat) {
        Clamp::Unit
    } else if mods.word(Word::Relu) {
        Clamp::Relu
    } else {
        Clamp::None
    };
    let overflow = if mods.word(Word::Satfinite) { Overflow::Saturate } else { Overflow::Ieee };
    let (to, from) = (mods.ty()?, mods.ty()?);
    let mode = Conversion {
        round: integral.or(round).unwrap_or(Round::NearestEven),
        integral: integral.is_some(),
        flush,
        clamp,
        overflow,
    };
    if let (Some(target), Some(source)) = (scalar(to), scalar(from)) {
        let [d, a] = count(ops)?;
        let extend =
            if let Operand::Reg(d) = d { register_bits(cx.function, *d) } else { to.bits() };
        if extend < to.bits() {
            return Err(format!("a result of {} bits in a register of {extend}", to.bits()));
        }
        let float_pair = is_float(target) && is_float(source);
        let mode = Conversion { integral: mode.integral && float_pair, ..mode };
        let a = cx.wide_source(a, from.bits())?;
        let kind = ConvertKind::Scalar { to: target, from: source, mode, extend };
        return Ok(Op::Convert(Box::new(Convert { kind, d: cx.dest(d)?, a, b: None, c: None })));
    }
    let kind = if from == Type::F32 {
        if let Some(half) = half(to) {
            ConvertKind::Halves { half, mode }
        } else if let Some(mini) = mini(to) {
            ConvertKind::Minis { mini, clamp }
        } else if to == Type::Ue8m0x2 {
            ConvertKind::Ue8m0 { round: mode.round, overflow }
        } else {
            return unknown(to, from);
        }
    } else if let (Some(mini), Some(half)) = (mini(to), half(from)) {
        ConvertKind::MinisFromHalves { mini, half, clamp }
    } else if let (Some(half), Some(mini)) = (half(to), mini(from)) {
        ConvertKind::MinisToHalves { mini, half, clamp }
    } else if (to, from) == (Type::Ue8m0x2, Type::Bf16x2) {
        ConvertKind::Ue8m0FromBf16 { round: mode.round, overflow }
    } else if (to, from) == (Type::Bf16x2, Type::Ue8m0x2) {
        ConvertKind::Ue8m0ToBf16
    } else {
        return unknown(to, from);
    };
    if from == Type::F32 {
        let [d, a, b] = count(ops)?;
        let (a, b) = (cx.source(a, 32)?, cx.source(b, 32)?);
        return Ok(Op::Convert(Box::new(Convert { kind, d: cx.dest(d)?, a, b: Some(b), c: None })));
    }
    let [d, a] = count(ops)?;
    let a = cx.wide_source(a, from.bits())?;
    Ok(Op::Convert(Box::new(Convert { kind, d: cx.dest(d)?, a, b: None, c: None })))
}

fn is_float(ty: Scalar) -> bool {
    matches!(ty, Scalar::F16 | Scalar::Bf16 | Scalar::Tf32 | Scalar::F32 | Scalar::F64)
}

fn unknown<T>(to: Type, from: Type) -> Decoded<T> {
    Err(format!("a conversion from `.{}` to `.{}`", from.text(), to.text()))
}

/// `cvt.pack.sat`.
fn pack(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    if !mods.word(Word::Sat) {
        return Err("`.sat` is missing".to_owned());
    }
    let (to, from) = (mods.ty()?, mods.ty()?);
    let third = mods.next_type();
    if from != Type::S32 {
        return unknown(to, from);
    }
    let signed = matches!(to, Type::S16 | Type::S8 | Type::S4);
    let bits = to.bits();
    let [d, a, b, rest @ ..] = ops else {
        return Err(format!("{} operands where 3 or 4 are needed", ops.len()));
    };
    let c = match (third, rest) {
        (None, []) => None,
        (Some(_), [c]) => Some(cx.source(c, 32)?),
        _ => return Err("the third source goes with a third type".to_owned()),
    };
    let (a, b) = (cx.source(a, 32)?, cx.source(b, 32)?);
    let kind = ConvertKind::Pack { bits, signed };
    Ok(Op::Convert(Box::new(Convert { kind, d: cx.dest(d)?, a, b: Some(b), c })))
}
