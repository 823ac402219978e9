//! Integer, logic, shift and bit-field instructions. PTX ISA, "Integer Arithmetic Instructions",
//! "Extended-Precision Integer Arithmetic", "Logic and Shift".
//!
//! Generic operations take an [`Int`] type and 64-bit containers: bits above the type's width are
//! ignored in operands and zero in results. With a constant type they inline to plain instructions.

use super::lossy::{low32, low64};

/// An integer type of 16 to 64 bits (8 for the few instructions that have it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Int {
    /// `.u8`
    U8,
    /// `.u16`
    U16,
    /// `.u32`
    U32,
    /// `.u64`
    U64,
    /// `.s8`
    S8,
    /// `.s16`
    S16,
    /// `.s32`
    S32,
    /// `.s64`
    S64,
}

impl Int {
    /// Width in bits.
    #[inline]
    pub const fn bits(self) -> u32 {
        match self {
            Self::U8 | Self::S8 => 8,
            Self::U16 | Self::S16 => 16,
            Self::U32 | Self::S32 => 32,
            Self::U64 | Self::S64 => 64,
        }
    }

    /// Whether it is signed.
    #[inline]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// All bits of the type.
    #[inline]
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// Extends the type's value, by sign or by zeros, to all 64 bits.
    #[inline]
    pub const fn extend(self, bits: u64) -> u64 {
        let unused = 64 - self.bits();
        if self.is_signed() {
            ((bits << unused).cast_signed() >> unused).cast_unsigned()
        } else {
            bits & self.mask()
        }
    }

    /// The number that the low bits stand for.
    #[inline]
    pub(crate) const fn value(self, bits: u64) -> i128 {
        let extended = self.extend(bits);
        if self.is_signed() { extended.cast_signed() as i128 } else { extended as i128 }
    }

    #[inline]
    const fn wrap(self, value: i128) -> u64 {
        low64(value.cast_unsigned()) & self.mask()
    }
}

/// `add`.
#[inline]
pub const fn add(ty: Int, a: u64, b: u64) -> u64 {
    a.wrapping_add(b) & ty.mask()
}

/// `sub`.
#[inline]
pub const fn sub(ty: Int, a: u64, b: u64) -> u64 {
    a.wrapping_sub(b) & ty.mask()
}

/// `add.sat.s32`.
#[inline]
pub const fn add_sat_s32(a: u32, b: u32) -> u32 {
    a.cast_signed().saturating_add(b.cast_signed()).cast_unsigned()
}

/// `sub.sat.s32`.
#[inline]
pub const fn sub_sat_s32(a: u32, b: u32) -> u32 {
    a.cast_signed().saturating_sub(b.cast_signed()).cast_unsigned()
}

/// `add.cc` and `addc.cc`: the sum with a carry in, and the carry out.
#[inline]
pub const fn add_carry(ty: Int, a: u64, b: u64, carry: bool) -> (u64, bool) {
    let sum = (a & ty.mask()) as u128 + (b & ty.mask()) as u128 + carry as u128;
    (low64(sum) & ty.mask(), sum >> ty.bits() != 0)
}

/// `sub.cc` and `subc.cc`: the difference with a borrow in, and the borrow out.
#[inline]
pub const fn sub_borrow(ty: Int, a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let subtrahend = (b & ty.mask()) as u128 + borrow as u128;
    let minuend = (a & ty.mask()) as u128;
    (low64(minuend.wrapping_sub(subtrahend)) & ty.mask(), minuend < subtrahend)
}

/// `mul.lo`.
#[inline]
pub const fn mul_lo(ty: Int, a: u64, b: u64) -> u64 {
    a.wrapping_mul(b) & ty.mask()
}

/// `mul.hi`: the upper half of the double-width product.
#[inline]
pub const fn mul_hi(ty: Int, a: u64, b: u64) -> u64 {
    let product = if ty.is_signed() {
        (ty.value(a) * ty.value(b)).cast_unsigned()
    } else {
        // u64 * u64 does not fit i128.
        (a & ty.mask()) as u128 * (b & ty.mask()) as u128
    };
    low64(product >> ty.bits()) & ty.mask()
}

/// `mul.wide`, for 8- to 32-bit types: the whole product, of twice the type's width.
#[inline]
pub const fn mul_wide(ty: Int, a: u64, b: u64) -> u64 {
    ty.extend(a).wrapping_mul(ty.extend(b)) & (u64::MAX >> 64u32.saturating_sub(2 * ty.bits()))
}

/// `mad.lo`.
#[inline]
pub const fn mad_lo(ty: Int, a: u64, b: u64, c: u64) -> u64 {
    add(ty, mul_lo(ty, a, b), c)
}

/// `mad.hi`.
#[inline]
pub const fn mad_hi(ty: Int, a: u64, b: u64, c: u64) -> u64 {
    add(ty, mul_hi(ty, a, b), c)
}

/// `mad.hi.sat.s32`.
#[inline]
pub const fn mad_hi_sat_s32(a: u32, b: u32, c: u32) -> u32 {
    add_sat_s32(low32(mul_hi(Int::S32, a as u64, b as u64)), c)
}

/// `mad.wide`: the double-width product plus a double-width `c`.
#[inline]
pub const fn mad_wide(ty: Int, a: u64, b: u64, c: u64) -> u64 {
    mul_wide(ty, a, b).wrapping_add(c) & (u64::MAX >> 64u32.saturating_sub(2 * ty.bits()))
}

/// The low bits of a word as a signed number.
#[inline]
const fn signed_part(word: u32, width_bits: u32) -> i64 {
    let unused = 32 - width_bits;
    ((word << unused).cast_signed() >> unused) as i64
}

/// The exact product of the low 24 bits of two 32-bit operands: 48 bits, extended to 64.
#[inline]
const fn product24(signed: bool, a: u32, b: u32) -> u64 {
    if signed {
        (signed_part(a, 24) * signed_part(b, 24)).cast_unsigned()
    } else {
        (a & 0xff_ffff) as u64 * (b & 0xff_ffff) as u64
    }
}

/// `mul24.lo`: the low 32 of the 48 product bits.
#[inline]
pub const fn mul24_lo(signed: bool, a: u32, b: u32) -> u32 {
    low32(product24(signed, a, b))
}

/// `mul24.hi`: the high 32 of the 48 product bits.
#[inline]
pub const fn mul24_hi(signed: bool, a: u32, b: u32) -> u32 {
    low32(product24(signed, a, b) >> 16)
}

/// `sad`: `c + |a - b|`, where only the comparison depends on the sign.
#[inline]
pub const fn sad(ty: Int, a: u64, b: u64, c: u64) -> u64 {
    let distance = if ty.value(a) < ty.value(b) { b.wrapping_sub(a) } else { a.wrapping_sub(b) };
    c.wrapping_add(distance) & ty.mask()
}

/// `div`: truncates towards zero. Division by zero yields an unspecified value
/// (PTX ISA, "div"): all ones, as on an H200. The one overflow, the smallest signed value over -1, wraps.
#[inline]
pub const fn div(ty: Int, a: u64, b: u64) -> u64 {
    let (a, b) = (ty.extend(a), ty.extend(b));
    if b == 0 {
        return ty.mask();
    }
    (if ty.is_signed() {
        a.cast_signed().wrapping_div(b.cast_signed()).cast_unsigned()
    } else {
        a / b
    }) & ty.mask()
}

/// `rem`: the sign follows the dividend. By zero the value is unspecified too: all ones.
#[inline]
pub const fn rem(ty: Int, a: u64, b: u64) -> u64 {
    let (a, b) = (ty.extend(a), ty.extend(b));
    if b == 0 {
        return ty.mask();
    }
    (if ty.is_signed() {
        a.cast_signed().wrapping_rem(b.cast_signed()).cast_unsigned()
    } else {
        a % b
    }) & ty.mask()
}

/// `min`.
#[inline]
pub const fn min(ty: Int, a: u64, b: u64) -> u64 {
    (if ty.value(a) < ty.value(b) { a } else { b }) & ty.mask()
}

/// `max`.
#[inline]
pub const fn max(ty: Int, a: u64, b: u64) -> u64 {
    (if ty.value(a) > ty.value(b) { a } else { b }) & ty.mask()
}

/// Applies a 16-bit operation to both halves: `add.u16x2`, `min.s16x2` and their like.
#[inline]
pub fn pairwise(a: u32, b: u32, f: impl Fn(u64, u64) -> u64) -> u32 {
    let low = f((a & 0xffff).into(), (b & 0xffff).into()) & 0xffff;
    let high = f((a >> 16).into(), (b >> 16).into()) & 0xffff;
    low32(low | high << 16)
}

/// `min.relu`, `max.relu` `.s16x2 .s32`: a negative result becomes 0.
#[inline]
pub const fn relu(ty: Int, a: u64) -> u64 {
    if ty.value(a) < 0 { 0 } else { a & ty.mask() }
}

/// `abs`: the smallest value wraps to itself.
#[inline]
pub const fn abs(ty: Int, a: u64) -> u64 {
    ty.wrap(ty.value(a).abs())
}

/// `neg`.
#[inline]
pub const fn neg(ty: Int, a: u64) -> u64 {
    a.wrapping_neg() & ty.mask()
}

/// `popc`: ones among the low `width_bits` bits.
#[inline]
pub const fn popc(width_bits: u32, a: u64) -> u32 {
    (a & (u64::MAX >> (64 - width_bits))).count_ones()
}

/// `clz`: leading zeros of a value of `width_bits` bits; the width itself for 0.
#[inline]
pub const fn clz(width_bits: u32, a: u64) -> u32 {
    (a & (u64::MAX >> (64 - width_bits))).leading_zeros() - (64 - width_bits)
}

/// `bfind`: the position of the highest bit that is not a copy of the sign (of the highest one, for
/// unsigned types), or 0xffffffff if there is none.
#[inline]
pub const fn bfind(ty: Int, a: u64) -> u32 {
    let extended = ty.extend(a);
    let significant =
        if ty.is_signed() && extended.cast_signed() < 0 { !extended } else { extended };
    if significant == 0 { u32::MAX } else { significant.ilog2() }
}

/// `bfind.shiftamt`: how far to shift left to bring that bit to the top.
#[inline]
pub const fn bfind_shift(ty: Int, a: u64) -> u32 {
    let position = bfind(ty, a);
    if position == u32::MAX { u32::MAX } else { ty.bits() - 1 - position }
}

/// `brev`.
#[inline]
pub const fn brev(width_bits: u32, a: u64) -> u64 {
    a.reverse_bits() >> (64 - width_bits)
}

/// Position and length as `bfe` and `bfi` read them. Beyond 255 all values act alike.
const fn field_operands(width_bits: u32, pos: u32, len: u32) -> (u32, u32) {
    if width_bits == 32 {
        return (pos & 0xff, len & 0xff);
    }
    (if pos > 0xff { 0xff } else { pos }, if len > 0xff { 0xff } else { len })
}

/// `bfe`: the field of `len` bits from bit `pos`, extended by the field's top bit for signed types.
/// Beyond the operand's top the field is filled with its sign (zero for unsigned types), as in the
/// manual's pseudocode. Of `pos` and `len` the 32-bit forms read the low eight bits, as
/// that pseudocode says; the 64-bit forms read them whole on an H200, and here.
#[inline]
pub const fn bfe(ty: Int, a: u64, pos: u32, len: u32) -> u64 {
    let (pos, len) = field_operands(ty.bits(), pos, len);
    let msb = ty.bits() - 1;
    let a = a & ty.mask();
    let sign_at = {
        let end = pos + len;
        let last = if end == 0 { 0 } else { end - 1 };
        if last < msb { last } else { msb }
    };
    let fill = ty.is_signed() && len != 0 && a >> sign_at & 1 == 1;
    let field = if pos > msb { 0 } else { a >> pos };
    // The bits that really come from `a`.
    let present = if pos > msb { 0 } else { msb + 1 - pos };
    let kept = if len < present { len } else { present };
    let low = if kept == 0 { 0 } else { u64::MAX >> (64 - kept) };
    let bits = field & low | if fill { !low } else { 0 };
    bits & ty.mask()
}

/// `bfi`: `b` with the low `len` bits of `a` inserted at `pos`; bits beyond the top are dropped. `pos`
/// and `len` are read as in [`bfe`].
#[inline]
pub const fn bfi(width_bits: u32, a: u64, b: u64, pos: u32, len: u32) -> u64 {
    let (pos, len) = field_operands(width_bits, pos, len);
    let all = u64::MAX >> (64 - width_bits);
    if pos >= width_bits || len == 0 {
        return b & all;
    }
    let field = (if len >= 64 { u64::MAX } else { (1 << len) - 1 }) << pos;
    (b & !field | a << pos & field) & all
}

/// What happens to an operand beyond 31 in `bmsk`, `szext` and `shf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// `.clamp`: it counts as the largest sensible value.
    Clamp,
    /// `.wrap`: only its low five bits count.
    Wrap,
}

/// `bmsk.b32`: `len` ones from bit `start`.
#[inline]
pub const fn bmsk(start: u32, len: u32, range: Range) -> u32 {
    let (start, len) = match range {
        Range::Wrap => (start & 31, len & 31),
        Range::Clamp => (start, len),
    };
    if start > 31 {
        return 0;
    }
    let ones = if len > 31 { u32::MAX } else { (1 << len) - 1 };
    ones << start
}

/// `szext`: the low `n` bits of `a`, extended by their top bit (signed) or zeros. For `n` = 0 the
/// result is 0.
#[inline]
pub const fn szext(signed: bool, a: u32, n: u32, range: Range) -> u32 {
    let n = match range {
        Range::Wrap => n & 31,
        Range::Clamp => n,
    };
    if n == 0 {
        0
    } else if n > 31 {
        a
    } else if signed {
        low32(signed_part(a, n).cast_unsigned())
    } else {
        a & ((1 << n) - 1)
    }
}

/// `fns.b32`: the position of the `offset`-th set bit of `mask` from `base`: upwards for positive
/// offsets, counting `base` itself, downwards for negative ones, and `base` itself, if set, for 0.
/// 0xffffffff if there is none. PTX ISA, "fns".
pub const fn fns(mask: u32, base: u32, offset: u32) -> u32 {
    let offset = offset.cast_signed();
    if base > 31 {
        return u32::MAX;
    }
    if offset == 0 {
        return if mask >> base & 1 == 1 { base } else { u32::MAX };
    }
    let step = if offset > 0 { 1 } else { -1 };
    let mut left = offset.unsigned_abs();
    let mut at = base.cast_signed();
    while at >= 0 && at < 32 {
        if mask >> at & 1 == 1 {
            left -= 1;
            if left == 0 {
                return at.cast_unsigned();
            }
        }
        at += step;
    }
    u32::MAX
}

/// `shl`: amounts beyond the width give 0.
#[inline]
pub const fn shl(width_bits: u32, a: u64, by: u32) -> u64 {
    if by >= width_bits { 0 } else { a << by & (u64::MAX >> (64 - width_bits)) }
}

/// `shr`: amounts beyond the width fill with zeros, or the sign for signed types.
#[inline]
pub const fn shr(ty: Int, a: u64, by: u32) -> u64 {
    let extended = ty.extend(a);
    if ty.is_signed() {
        (extended.cast_signed() >> if by > 63 { 63 } else { by }).cast_unsigned() & ty.mask()
    } else if by >= ty.bits() {
        0
    } else {
        extended >> by
    }
}

/// By how much `shf` shifts.
#[inline]
const fn amount(by: u32, range: Range) -> u32 {
    match range {
        Range::Wrap => by & 31,
        Range::Clamp if by > 32 => 32,
        Range::Clamp => by,
    }
}

/// `shf.l`: the upper 32 bits of `(high:low) << by`.
#[inline]
pub const fn shf_left(low: u32, high: u32, by: u32, range: Range) -> u32 {
    let both = (high as u64) << 32 | low as u64;
    (both << amount(by, range) >> 32) as u32
}

/// `shf.r`: the lower 32 bits of `(high:low) >> by`.
#[inline]
pub const fn shf_right(low: u32, high: u32, by: u32, range: Range) -> u32 {
    let both = (high as u64) << 32 | low as u64;
    low32(both >> amount(by, range))
}

/// The mode of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permute {
    /// No mode: four 4-bit selectors, the top bit of each replicating the byte's sign.
    Bytes,
    /// `.f4e`: four bytes upwards from the selected one.
    Forward4,
    /// `.b4e`: four bytes downwards from the selected one.
    Backward4,
    /// `.rc8`: the selected byte everywhere.
    Replicate8,
    /// `.ecl`: edge clamp to the left.
    EdgeLeft,
    /// `.ecr`: edge clamp to the right.
    EdgeRight,
    /// `.rc16`: the selected half in both halves.
    Replicate16,
}

/// `prmt.b32`: bytes of `b:a`, numbered from `a`'s lowest, picked by `selector`. PTX ISA, "prmt".
pub const fn prmt(a: u32, b: u32, selector: u32, mode: Permute) -> u32 {
    let bytes = (b as u64) << 32 | a as u64;
    let c = selector & 3;
    let mut result = 0;
    let mut i = 0;
    while i < 4 {
        let pick = match mode {
            Permute::Bytes => selector >> (4 * i) & 0xf,
            Permute::Forward4 => (c + i) & 7,
            Permute::Backward4 => c.wrapping_sub(i) & 7,
            Permute::Replicate8 => c,
            Permute::EdgeLeft => {
                if i > c {
                    i
                } else {
                    c
                }
            }
            Permute::EdgeRight => {
                if i < c {
                    i
                } else {
                    c
                }
            }
            Permute::Replicate16 => (c & 1) * 2 + (i & 1),
        };
        let byte = low32(bytes >> (8 * (pick & 7))) & 0xff;
        let byte = if pick & 8 == 0 {
            byte
        } else if byte >> 7 == 1 {
            0xff
        } else {
            0
        };
        result |= byte << (8 * i);
        i += 1;
    }
    result
}

/// `lop3.b32`: bit `4a + 2b + c` of the table, per bit position.
#[inline]
pub const fn lop3(a: u32, b: u32, c: u32, table: u8) -> u32 {
    let mut result = 0;
    let mut row = 0;
    while row < 8 {
        if table >> row & 1 == 1 {
            let in_a = if row & 4 != 0 { a } else { !a };
            let in_b = if row & 2 != 0 { b } else { !b };
            let in_c = if row & 1 != 0 { c } else { !c };
            result |= in_a & in_b & in_c;
        }
        row += 1;
    }
    result
}

/// `cnot`: 1 for 0, else 0.
#[inline]
pub const fn cnot(width_bits: u32, a: u64) -> u64 {
    (a & (u64::MAX >> (64 - width_bits)) == 0) as u64
}

const fn part(word: u32, index: u32, width_bits: u32, signed: bool) -> i64 {
    let raw = word >> (index * width_bits);
    if signed {
        signed_part(raw, width_bits)
    } else {
        let unused = 32 - width_bits;
        (raw << unused >> unused) as i64
    }
}

/// `dp4a`: `c` plus the four byte products.
#[inline]
pub const fn dp4a(a: u32, b: u32, c: u32, signed_a: bool, signed_b: bool) -> u32 {
    let mut sum = c as i64;
    let mut i = 0;
    while i < 4 {
        sum += part(a, i, 8, signed_a) * part(b, i, 8, signed_b);
        i += 1;
    }
    low32(sum.cast_unsigned())
}

/// `dp2a`: `c` plus the products of `a`'s halves with two bytes of `b`, the lower two for `.lo`, the
/// upper two for `.hi` (`high`).
#[inline]
pub const fn dp2a(a: u32, b: u32, c: u32, signed_a: bool, signed_b: bool, high: bool) -> u32 {
    let first = if high { 2 } else { 0 };
    let mut sum = c as i64;
    let mut i = 0;
    while i < 2 {
        sum += part(a, i, 16, signed_a) * part(b, first + i, 8, signed_b);
        i += 1;
    }
    low32(sum.cast_unsigned())
}
