//! The factors of a matrix product, out of their registers: flat arrays of f32, which a product reads
//! where they are.
//!
//! Every narrow type widens to f32 without error. A register of A stays in the order of its lanes:
//! lane `4 row + within`. A register of B is turned first, so that a row of B is contiguous:
//! `8 within + place`, where the even columns come before the odd ones, as they are in the registers of
//! C and D ([`c_place`](super::fragment::c_place)). Element `j` of register `step` (of every second
//! one in A) then belongs to `k = 4 E step + E within + j`, with `E` elements in a register.

use std::borrow::Borrow;

use super::convert::Minifloat;
use super::fragment::{LANES, Register};
use super::lossy::{low8, low16, low32, nearest_of_s32};
use super::narrow::{widen_bf16, widen_f16, widen_f16_word};

/// The element type of a floating-point operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `.f16`
    F16,
    /// `.bf16`
    Bf16,
    /// `.tf32`: the low 13 bits of the register are not read.
    Tf32,
    /// An 8-bit or narrower type, one to a byte, which holds it as `in_byte` says.
    Mini(Minifloat),
}

impl Element {
    /// Elements in a 32-bit register.
    pub const fn per_register(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::Tf32 => 1,
            Self::Mini(_) => 4,
        }
    }

    /// The bits of one element, in the low end of `bits`, as f32.
    #[inline]
    pub fn widen(self, bits: u32) -> f32 {
        match self {
            Self::F16 => widen_f16(low16(bits.into())),
            Self::Bf16 => widen_bf16(low16(bits.into())),
            Self::Tf32 => f32::from_bits(bits & 0xffff_e000),
            Self::Mini(mini) => in_byte(mini, low8(bits.into())),
        }
    }
}

/// The element type of an integer operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntElement {
    /// `.u8`
    U8,
    /// `.s8`
    S8,
    /// `.u4`
    U4,
    /// `.s4`
    S4,
}

impl IntElement {
    /// Elements in a 32-bit register.
    pub const fn per_register(self) -> usize {
        match self {
            Self::U8 | Self::S8 => 4,
            Self::U4 | Self::S4 => 8,
        }
    }
}

/// The elements of one register: `[j][lane]`.
pub(super) type Lanes<const E: usize> = [[f32; LANES]; E];

/// Steps along k that one instruction takes at most: registers of B.
pub(super) const STEPS: usize = 2;

/// A, for eight rows: the elements of the registers along k.
pub(super) type Rows<const E: usize> = [Lanes<E>; STEPS];

/// Widens every lane; `value` takes the register and the number of the element.
#[inline]
fn widen<const E: usize>(out: &mut Lanes<E>, register: &Register, value: impl Fn(u32, u32) -> f32) {
    for (j, out) in (0..).zip(out) {
        for (out, word) in out.iter_mut().zip(register) {
            *out = value(*word, j);
        }
    }
}

/// Two to the 112: what f16's exponents are below those of f32.
const F16_SCALE: f32 = f32::from_bits((127 + 112) << 23);

/// Whether no f16 of the registers is subnormal, infinite or NaN.
fn ordinary(registers: &[impl Borrow<Register>]) -> bool {
    // Bit 15 of each half: the exponent is not 0, is 31, the fraction is not 0.
    let (mut every, mut some) = (u32::MAX, 0);
    for register in registers {
        for word in register.borrow() {
            let exponent = word & 0x7c00_7c00;
            every &= exponent + 0x7c00_7c00;
            some |= exponent + 0x0400_0400;
        }
    }
    if some & 0x8000_8000 != 0 {
        return false;
    }
    if every & 0x8000_8000 == 0x8000_8000 {
        return true;
    }
    // Zeros have no exponent either, and are common.
    let mut subnormal = 0;
    for register in registers {
        for word in register.borrow() {
            let exponent = (word & 0x7c00_7c00) + 0x7c00_7c00;
            let fraction = ((word & 0x03ff_03ff) + 0x03ff_03ff) << 5;
            subnormal |= fraction & !exponent;
        }
    }
    subnormal & 0x8000_8000 == 0
}

/// Widens the registers of one operand, `turn` applied to each first.
#[inline]
fn floats<'a, const E: usize>(
    out: impl IntoIterator<Item = &'a mut Lanes<E>>,
    element: Element,
    registers: &[impl Borrow<Register>],
    turn: impl Fn(&Register) -> Register,
) {
    let pairs = out.into_iter().zip(registers.iter().map(|register| turn(register.borrow())));
    match element {
        Element::F16 if ordinary(registers) => {
            // The exponent and the fraction move to their places, the sign stays; then the scale.
            for (out, register) in pairs {
                widen(out, &register, |word, j| {
                    let top = (word << (16 - 16 * j)).cast_signed();
                    f32::from_bits((top >> 3).cast_unsigned() & 0x8fff_e000) * F16_SCALE
                });
            }
        }
        Element::F16 => {
            for (out, register) in pairs {
                widen(out, &register, |word, j| widen_f16_word(word >> (16 * j)));
            }
        }
        Element::Bf16 => {
            for (out, register) in pairs {
                widen(out, &register, |word, j| {
                    f32::from_bits(word << (16 - 16 * j) & 0xffff_0000)
                });
            }
        }
        Element::Tf32 => {
            for (out, register) in pairs {
                widen(out, &register, |word, _| f32::from_bits(word & 0xffff_e000));
            }
        }
        Element::Mini(mini) => {
            for (out, register) in pairs {
                widen(out, &register, |word, j| in_byte(mini, low8((word >> (8 * j)).into())));
            }
        }
    }
}

/// The same for integers, all of which f32 holds.
#[inline]
fn integers<'a, const E: usize>(
    out: impl IntoIterator<Item = &'a mut Lanes<E>>,
    element: IntElement,
    registers: &[impl Borrow<Register>],
    turn: impl Fn(&Register) -> Register,
) {
    let bits = low32(32 / E as u64);
    let pairs = out.into_iter().zip(registers.iter().map(|register| turn(register.borrow())));
    match element {
        IntElement::S8 | IntElement::S4 => {
            for (out, register) in pairs {
                widen(out, &register, |word, j| {
                    nearest_of_s32((word << (32 - bits - bits * j)).cast_signed() >> (32 - bits))
                });
            }
        }
        IntElement::U8 | IntElement::U4 => {
            for (out, register) in pairs {
                // As a signed number, which hosts convert faster.
                widen(out, &register, |word, j| {
                    nearest_of_s32((word << (32 - bits - bits * j) >> (32 - bits)).cast_signed())
                });
            }
        }
    }
}

/// A register of B with rows contiguous, even columns first.
#[inline]
fn turned(register: &Register) -> Register {
    let mut out = [0; LANES];
    for within in 0..4 {
        for place in 0..8 {
            let column = place % 4 * 2 + place / 4;
            out[8 * within + place] = register[4 * column + within];
        }
    }
    out
}

/// A of 16 rows in the order of its registers: those with an even number hold the upper eight rows.
#[inline]
fn in_order<const E: usize>(halves: &mut [Rows<E>; 2]) -> [&mut Lanes<E>; 2 * STEPS] {
    let [[a, c], [b, d]] = halves;
    [a, b, c, d]
}

/// A of 16 rows in floating point.
#[inline]
pub(super) fn float_a<const E: usize>(
    element: Element,
    registers: &[impl Borrow<Register>],
) -> [Rows<E>; 2] {
    let mut out = [[[[0.0; LANES]; E]; STEPS]; 2];
    floats(in_order(&mut out), element, registers, |register| *register);
    out
}

/// B in floating point.
#[inline]
pub(super) fn float_b<const E: usize>(
    element: Element,
    registers: &[impl Borrow<Register>],
) -> [Lanes<E>; STEPS] {
    let mut out = [[[0.0; LANES]; E]; STEPS];
    floats(&mut out, element, registers, turned);
    out
}

/// A of 16 rows in integers.
#[inline]
pub(super) fn int_a<const E: usize>(
    element: IntElement,
    registers: &[impl Borrow<Register>],
) -> [Rows<E>; 2] {
    let mut out = [[[[0.0; LANES]; E]; STEPS]; 2];
    integers(in_order(&mut out), element, registers, |register| *register);
    out
}

/// B in integers.
#[inline]
pub(super) fn int_b<const E: usize>(
    element: IntElement,
    registers: &[impl Borrow<Register>],
) -> [Lanes<E>; STEPS] {
    let mut out = [[[0.0; LANES]; E]; STEPS];
    integers(&mut out, element, registers, turned);
    out
}

/// The 256 values of an 8-bit type.
const fn table(mini: Minifloat) -> [f32; 256] {
    let mut values = [0.0; 256];
    let mut code = 0;
    while code < 256 {
        values[code] = mini.widen(low8(code as u64));
        code += 1;
    }
    values
}

static E4M3: [f32; 256] = table(Minifloat::E4m3);
static E5M2: [f32; 256] = table(Minifloat::E5m2);
static E3M2: [f32; 256] = table(Minifloat::E3m2);
static E2M3: [f32; 256] = table(Minifloat::E2m3);
static E2M1: [f32; 256] = table(Minifloat::E2m1);

/// The number in a byte that tensor cores read: e2m1 takes bits 2 to 5, the six-bit types the low ones. So CUTLASS gives them to
/// `mma.sync` (`fp4_shift_A` moves what `ldmatrix` loads of e2m1 up by two bits, and nothing of the six-bit types).
#[inline]
pub(super) const fn in_byte(mini: Minifloat, byte: u8) -> f32 {
    let up = match mini {
        Minifloat::E2m1 => 2,
        Minifloat::E4m3 | Minifloat::E5m2 | Minifloat::E3m2 | Minifloat::E2m3 => 0,
    };
    values(mini)[(byte >> up) as usize]
}

pub(super) const fn values(mini: Minifloat) -> &'static [f32; 256] {
    match mini {
        Minifloat::E4m3 => &E4M3,
        Minifloat::E5m2 => &E5M2,
        Minifloat::E3m2 => &E3M2,
        Minifloat::E2m3 => &E2M3,
        Minifloat::E2m1 => &E2M1,
    }
}
