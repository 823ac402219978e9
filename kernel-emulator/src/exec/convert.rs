//! `cvt` (PTX ISA, "cvt", "cvt.pack").

use crate::code::{Convert, ConvertKind, LANES, Slot};
use crate::machine::Registers;
use crate::numeric::convert::{self, Conversion, Type};
use crate::numeric::lossy::{low16, low32};
use crate::numeric::narrow;

/// `cvt`, all forms.
pub(crate) fn convert(regs: &mut Registers, op: &Convert, mask: u32) {
    let a = regs.wide(op.a);
    let second = |slot: Option<Slot>| slot.map_or([0; LANES], |slot| regs.wide(slot));
    let mut defined = regs.defined(op.a);
    for slot in [op.b, op.c].into_iter().flatten() {
        defined &= regs.defined(slot);
    }
    let out: [u64; LANES] = match op.kind {
        ConvertKind::Scalar { to, from, mode, extend } => scalar(&a, to, from, mode, extend),
        ConvertKind::Halves { half, mode } => {
            let b = second(op.b);
            std::array::from_fn(|i| {
                convert::pack_halves(half, low32(a[i]), low32(b[i]), mode).into()
            })
        }
        ConvertKind::Minis { mini, clamp } => {
            let b = second(op.b);
            std::array::from_fn(|i| {
                convert::pack_minis(mini, low32(a[i]), low32(b[i]), clamp).into()
            })
        }
        ConvertKind::MinisFromHalves { mini, half, clamp } => {
            a.map(|a| convert::pack_minis_from_halves(mini, half, low32(a), clamp).into())
        }
        ConvertKind::MinisToHalves { mini, half: to, clamp } => {
            a.map(|a| convert::unpack_minis(mini, to, low16(a), clamp).into())
        }
        ConvertKind::Ue8m0 { round, overflow } => {
            let b = second(op.b);
            std::array::from_fn(|i| {
                convert::pack_ue8m0(low32(a[i]), low32(b[i]), round, overflow).into()
            })
        }
        ConvertKind::Ue8m0FromBf16 { round, overflow } => {
            a.map(|a| convert::pack_ue8m0_from_bf16(low32(a), round, overflow).into())
        }
        ConvertKind::Ue8m0ToBf16 => a.map(|a| convert::unpack_ue8m0(low16(a)).into()),
        ConvertKind::Pack { bits, signed } => {
            let (b, c) = (second(op.b), second(op.c));
            std::array::from_fn(|i| {
                convert::pack_saturated(low32(a[i]), low32(b[i]), low32(c[i]), bits, signed).into()
            })
        }
    };
    regs.set_wide(op.d, &out, mask, defined);
}

/// Conversions of one value; the commonest ones as loops that vectorise.
fn scalar(a: &[u64; LANES], to: Type, from: Type, mode: Conversion, extend: u32) -> [u64; LANES] {
    let mut out = [0; LANES];
    let integers = from.bits() <= 64 && is_integer(to) && is_integer(from);
    if integers && mode.clamp == crate::numeric::scalar::Clamp::None {
        // Truncation, or extension by the source's sign.
        let unused = 64 - from.bits().min(to.bits());
        let by_sign = if from.bits() >= to.bits() { to.is_signed() } else { from.is_signed() };
        let keep = u64::MAX >> (64 - extend);
        let inside = if to.is_signed() { keep } else { u64::MAX >> (64 - to.bits()) & keep };
        for lane in 0..LANES {
            let up = a[lane] << unused;
            let value =
                if by_sign { (up.cast_signed() >> unused).cast_unsigned() } else { up >> unused };
            out[lane] = value & inside;
        }
        return out;
    }
    if (to, from) == (Type::F32, Type::F16) && mode == Conversion::RN {
        for lane in 0..LANES {
            let value = narrow::widen_f16(low16(a[lane])).to_bits();
            out[lane] = u64::from(convert::canonical_f32(value, false));
        }
        return out;
    }
    for lane in 0..LANES {
        let value = convert::convert(to, from, a[lane], mode);
        out[lane] = if to.is_signed() && extend > to.bits() {
            let unused = 64 - to.bits();
            let wide = ((value << unused).cast_signed() >> unused).cast_unsigned();
            wide & u64::MAX >> (64 - extend)
        } else {
            value
        };
    }
    out
}

const fn is_integer(ty: Type) -> bool {
    match ty {
        Type::U8
        | Type::U16
        | Type::U32
        | Type::U64
        | Type::S8
        | Type::S16
        | Type::S32
        | Type::S64 => true,
        Type::F16 | Type::Bf16 | Type::Tf32 | Type::F32 | Type::F64 => false,
    }
}
