//! Sine and cosine of `f32` and `f64`.
//!
//! The angle is reduced to r within ±π/4 and the number of quarter turns that were taken off. Up to 2^17 in `f32` and 2^30 in `f64` three
//! products do that: the first is exact, and each has the next part of π/2. Further out the bits of 2/π are multiplied with the
//! angle in integers, behind one branch for all elements of a thread.

use kernel_ptx::{Guard, Opcode, Operand, Type, Word};

use super::floats::{Floats, Width, doubles, singles};
use super::functions::f32_const;
use crate::ir::{Dtype, Transcendental};
use crate::lower::emitter::bits::sign_extended;
use crate::lower::emitter::{Emitter, FrameKind, Val, mods};

/// The constants of a type.
struct Constants {
    /// From here on angles are reduced in integers.
    far: f64,
    /// π/2 as a number, what that leaves out, and what that does.
    half_pi: [Val; 3],
    /// (sin(r) - r) / r³ and (cos(r) - 1) / r², of r².
    sine: &'static [Val],
    cosine: &'static [Val],
}

const SINGLE: Constants = Constants {
    far: 131_072.0,
    half_pi: singles([0x3fc9_0fdb, 0xb33b_bd2e, 0xa6f7_2ced]),
    sine: &singles([0xbe2a_aaa3, 0x3c08_83bb, 0xb94c_a975]),
    cosine: &singles([0xbf00_0000, 0x3d2a_aaa5, 0xbab6_0614, 0x37cc_f409]),
};

/// The errors of the fits are 2^-57.8 of the sine and 2^-63.4 of the cosine.
const DOUBLE: Constants = Constants {
    far: 1_073_741_824.0,
    half_pi: doubles([0x3ff9_21fb_5444_2d18, 0x3c91_a626_3314_5c07, 0xb91f_1976_b7ed_8fbc]),
    sine: &doubles([
        0xbfc5_5555_5555_5548,
        0x3f81_1111_1110_f730,
        0xbf2a_01a0_19be_92b6,
        0x3ec7_1de3_5553_6752,
        0xbe5a_e5e4_b8e2_9c96,
        0x3de5_d8b5_8ee1_08fe,
    ]),
    cosine: &doubles([
        0xbfe0_0000_0000_0000,
        0x3fa5_5555_5555_554b,
        0xbf56_c16c_16c1_5013,
        0x3efa_01a0_19c8_ee1d,
        0xbe92_7e4f_7f15_1d80,
        0x3e21_ee9d_b9bf_44a2,
        0xbda8_fa66_6bac_f87e,
    ]),
};

/// The bits of 2/π after the point, after 64 zeros, as far as the largest `f64` needs them.
const TWO_OVER_PI: [u64; 19] = [
    0,
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
];

/// A word of 32 bits of [`TWO_OVER_PI`].
const fn two_over_pi_word(at: usize) -> i64 {
    let pair = TWO_OVER_PI[at / 2];
    let word = if at.is_multiple_of(2) { pair >> 32 } else { pair & 0xffff_ffff };
    word.cast_signed()
}

/// An angle within ±π/4, and a number that is the quarter turns taken off, in its two lowest bits.
#[derive(Clone, Copy)]
struct Reduced {
    rest: Val,
    quarters: Val,
}

impl Emitter {
    /// The sines or cosines of numbers that one thread holds.
    pub(super) fn sines(&mut self, function: Transcendental, dtype: Dtype, x: &[Val]) -> Vec<Val> {
        let half = matches!(dtype, Dtype::F16 | Dtype::Bf16);
        let width = if dtype == Dtype::F64 { Width::Double } else { Width::Single };
        let x: Vec<Val> =
            x.iter().map(|&x| if half { self.half_to_f32(dtype, x) } else { x }).collect();
        let mut floats = self.floats(width);
        let mut reduced: Vec<Reduced> = x.iter().map(|&x| floats.reduced_near(x)).collect();
        // No f16 is that far out.
        if dtype != Dtype::F16 {
            floats.reduce_far(&x, &mut reduced);
        }
        let sines = x.iter().zip(reduced).map(|(&x, angle)| {
            let mut floats = self.floats(width);
            let mut sine = floats.sine(function, angle);
            if function == Transcendental::Sin {
                // The sums give +0 for -0.
                let zero = floats.compare(Word::Eq, x, floats.constant(0.0));
                sine = floats.select(zero, x, sine);
            }
            if half { self.f32_to_half(dtype, sine) } else { sine }
        });
        sines.collect()
    }
}

impl Floats<'_> {
    fn angles(&self) -> &'static Constants {
        match self.width {
            Width::Single => &SINGLE,
            Width::Double => &DOUBLE,
        }
    }

    /// n is the integer nearest to x · 2/π.
    fn reduced_near(&mut self, x: Val) -> Reduced {
        let [first, second, third] = self.angles().half_pi;
        let (minus_n, sum) = self.nearest_whole(x, self.constant(std::f64::consts::FRAC_2_PI));
        let rest = self.fma(minus_n, first, x);
        let rest = self.fma(minus_n, second, rest);
        let rest = self.fma(minus_n, third, rest);
        let bits = self.bits_of(sum);
        let quarters = match self.width {
            Width::Single => bits,
            Width::Double => self.e.narrow(bits),
        };
        Reduced { rest, quarters }
    }

    /// Replaces the reduction of numbers that are far out, if there is one.
    fn reduce_far(&mut self, x: &[Val], reduced: &mut [Reduced]) {
        let ty = self.ty();
        let from = self.constant(self.angles().far);
        let magnitudes: Vec<Val> = x.iter().map(|&x| self.abs(x)).collect();
        let greatest = magnitudes.iter().copied().reduce(|a, b| self.larger(a, b));
        let Some(greatest) = greatest else { return };
        let outer = self.e.current();
        let slots: Vec<_> = reduced
            .iter()
            .map(|angle| {
                let [rest, quarters] =
                    [(ty, angle.rest), (Type::B32, angle.quarters)].map(|(ty, value)| {
                        let slot = self.e.fresh_in(ty, outer);
                        self.e.assign(slot, value);
                        slot
                    });
                (rest, quarters)
            })
            .collect();
        let far = self.compare(Word::Ge, greatest, from);
        let predicate = self.e.reg(far, Type::Pred);
        let end = self.e.label();
        let near = Some(Guard { predicate, negated: true });
        self.e.effect_if(near, Opcode::Bra, &[], [Operand::Label(end)]);
        self.e.enter(FrameKind::Branch);
        for (((&x, &magnitude), angle), &(rest, quarters)) in
            x.iter().zip(&magnitudes).zip(&mut *reduced).zip(&slots)
        {
            let by_bits = match self.width {
                Width::Single => self.e.reduced_far(x),
                Width::Double => self.reduced_double(x),
            };
            let far = self.compare(Word::Ge, magnitude, from);
            let new_rest = self.select(far, by_bits.rest, angle.rest);
            let new_quarters = self.e.select(Type::U32, far, by_bits.quarters, angle.quarters);
            self.e.assign(rest, new_rest);
            self.e.assign(quarters, new_quarters);
            *angle = Reduced { rest: Val::Reg(rest), quarters: Val::Reg(quarters) };
        }
        self.e.leave();
        self.e.place_label(end);
        // Threads whose angles are near skip the branch.
        self.e.sync_warp();
    }

    /// The product of the significand m of an `f64` and 192 bits of 2/π, of which those before them make whole turns.
    ///
    /// |x| is m · 2^(e - 63), m with its highest bit set. The bits of 2/π from bit e - 1 of the table on give a number F with
    /// |x| · 2/π = m · F / 2^190 but for multiples of 4. No `f64` is nearer than 2^-62 to a multiple of π/2, which leaves 63 bits.
    fn reduced_double(&mut self, x: Val) -> Reduced {
        let bits = self.bits_of(x);
        let significand = self.e.shl(Type::S64, bits, 11);
        let significand = self.e.or(Type::U64, significand, Val::Int(i64::MIN));
        let exponent = self.e.shr(Type::U64, bits, 52);
        let exponent = self.e.narrow(exponent);
        let exponent = self.e.and(Type::U32, exponent, Val::Int(0x7ff));
        let start = self.e.sub(Type::S32, exponent, Val::Int(1024));
        // The four words from start / 64 on, by the bits of that.
        let mut words: Vec<Val> =
            TWO_OVER_PI.iter().map(|word| Val::Int(word.cast_signed())).collect();
        for skipped in [8, 4, 2, 1] {
            let set = self.e.and(Type::U32, start, Val::Int(64 * skipped));
            let set = self.e.compare(Word::Ne, Type::S32, set, Val::Int(0));
            let skipped = usize::try_from(skipped).expect("at most 8");
            words = (0..3 + skipped)
                .map(|at| self.e.select(Type::U64, set, words[at + skipped], words[at]))
                .collect();
        }
        let left = self.e.and(Type::U32, start, Val::Int(63));
        let right = self.e.sub(Type::S32, Val::Int(64), left);
        let [high, middle, low] = [0, 1, 2].map(|at| {
            let upper = self.e.pure(Opcode::Shl, mods![Type::B64], Type::B64, &[words[at], left]);
            // A shift by 64 leaves nothing.
            let lower =
                self.e.pure(Opcode::Shr, mods![Type::U64], Type::B64, &[words[at + 1], right]);
            self.e.or(Type::U64, upper, lower)
        });
        let low = self.upper_product(significand, low);
        let middle_low = self.e.mul(Type::S64, significand, middle);
        let lower = self.e.add(Type::S64, middle_low, low);
        let carries = self.e.compare(Word::Lt, Type::U64, lower, low);
        let carry = self.e.select(Type::U64, carries, Val::Int(1), Val::Int(0));
        let middle_high = self.upper_product(significand, middle);
        let high = self.e.mul(Type::S64, significand, high);
        let turns = self.e.add(Type::S64, high, middle_high);
        // Two bits of quarter turns, 62 of their fraction, and 64 more in the lower word.
        let turns = self.e.add(Type::S64, turns, carry);
        let nearest = self.e.add(Type::S64, turns, Val::Int(1 << 61));
        let quarters = self.e.shr(Type::U64, nearest, 62);
        let whole = self.e.shl(Type::S64, quarters, 62);
        let fraction = self.e.sub(Type::S64, turns, whole);
        let of_integer = |this: &mut Self, ty: Type, value: Val| {
            this.e.pure(Opcode::Cvt, mods![Word::Rn, Type::F64, ty], Type::F64, &[value])
        };
        let large = of_integer(self, Type::S64, fraction);
        // What the conversion rounded off, and the lower word.
        let back = mods![Word::Rzi, Type::S64, Type::F64];
        let back = self.e.pure(Opcode::Cvt, back, Type::B64, &[large]);
        let small = self.e.sub(Type::S64, fraction, back);
        let small = of_integer(self, Type::S64, small);
        let lower = of_integer(self, Type::U64, lower);
        let small = self.fma(lower, self.constant(2f64.powi(-64)), small);
        let unit = self.constant(2f64.powi(-62));
        let (large, small) = (self.mul(large, unit), self.mul(small, unit));
        let [first, second, _] = DOUBLE.half_pi;
        let rest = self.mul(large, first);
        let minus_rest = self.neg(rest);
        let left_out = self.fma(large, first, minus_rest);
        let left_out = self.fma(large, second, left_out);
        let left_out = self.fma(small, first, left_out);
        let rest = self.add(rest, left_out);
        let quarters = self.e.narrow(quarters);
        let minus_quarters = self.e.sub(Type::S32, Val::Int(0), quarters);
        let minus_rest = self.neg(rest);
        let negative = self.e.compare(Word::Lt, Type::S64, bits, Val::Int(0));
        let quarters = self.e.select(Type::U32, negative, minus_quarters, quarters);
        let rest = self.select(negative, minus_rest, rest);
        // Zero, or NaN of infinity.
        let rest = self.fma(x, self.constant(0.0), rest);
        Reduced { rest, quarters }
    }

    /// The upper 64 bits of a product.
    fn upper_product(&mut self, a: Val, b: Val) -> Val {
        self.e.pure(Opcode::Mul, mods![Word::Hi, Type::U64], Type::B64, &[a, b])
    }

    /// The sine of r + n · π/2: r + r³ · p(r²) or 1 + r² · q(r²), by n, or its negative. A cosine is a sine one quarter further.
    fn sine(&mut self, function: Transcendental, angle: Reduced) -> Val {
        let constants = self.angles();
        let quarters = if function == Transcendental::Cos {
            self.e.add(Type::S32, angle.quarters, Val::Int(1))
        } else {
            angle.quarters
        };
        let square = self.mul(angle.rest, angle.rest);
        let p = self.polynomial(constants.sine, square);
        let cube = self.mul(angle.rest, square);
        let sine = self.fma(cube, p, angle.rest);
        let q = self.polynomial(constants.cosine, square);
        let cosine = self.fma(square, q, self.constant(1.0));
        let odd = self.e.and(Type::U32, quarters, Val::Int(1));
        let odd = self.e.compare(Word::Ne, Type::S32, odd, Val::Int(0));
        let value = self.select(odd, cosine, sine);
        let sign = self.e.and(Type::U32, quarters, Val::Int(2));
        match self.width {
            Width::Single => {
                let sign = self.e.shl(Type::S32, sign, 30);
                let bits = self.bits_of(value);
                let bits = self.e.xor(Type::U32, bits, sign);
                self.of_bits(bits)
            }
            Width::Double => {
                let negative = self.e.compare(Word::Ne, Type::S32, sign, Val::Int(0));
                let minus_value = self.neg(value);
                self.select(negative, minus_value, value)
            }
        }
    }
}

impl Emitter {
    /// The product of the significand m and 96 bits of 2/π, of which those before them make whole turns.
    ///
    /// |x| is m · 2^(e - 31), m with its highest bit set. The bits of 2/π from bit e - 1 of the table on give a number F with
    /// |x| · 2/π = m · F / 2^94 but for multiples of 4.
    fn reduced_far(&mut self, x: Val) -> Reduced {
        let bits = self.bits_of_f32(x);
        let significand = self.shl(Type::U32, bits, 8);
        let significand = self.or(Type::U32, significand, Val::Int(sign_extended(1 << 31, 32)));
        let significand = Val::Reg(self.reg(significand, Type::B32));
        let exponent = self.shr(Type::U32, bits, 23);
        let exponent = self.and(Type::U32, exponent, Val::Int(0xff));
        let start = self.sub(Type::S32, exponent, Val::Int(128));
        let [odd, upper] = [32, 64].map(|bit| {
            let set = self.and(Type::U32, start, Val::Int(bit));
            self.compare(Word::Ne, Type::S32, set, Val::Int(0))
        });
        // After 32 zeros.
        let word = |at: usize| Val::Int(sign_extended(two_over_pi_word(at + 1), 32));
        let pairs = [0, 1, 2, 3, 4].map(|at| self.select(Type::U32, upper, word(at + 2), word(at)));
        let words = [0, 1, 2, 3].map(|at| self.select(Type::U32, odd, pairs[at + 1], pairs[at]));
        // The shift is by the amount modulo 32.
        let [high, middle, low] = [0, 1, 2].map(|at| {
            let [left, right] = [at, at + 1].map(|at| Val::Reg(self.reg(words[at], Type::B32)));
            let modifiers = mods![Word::L, Word::Wrap, Type::B32];
            self.pure(Opcode::Shf, modifiers, Type::B32, &[right, left, start])
        });
        let [high, middle, low] = [high, middle, low].map(|word| {
            let modifiers = mods![Word::Wide, Type::U32];
            self.pure(Opcode::Mul, modifiers, Type::B64, &[significand, word])
        });
        let low = self.shr(Type::U64, low, 32);
        let middle = self.add(Type::S64, middle, low);
        let high = self.shl(Type::S64, high, 32);
        // Two bits of quarter turns, 62 of their fraction.
        let turns = self.add(Type::S64, high, middle);
        let nearest = self.add(Type::S64, turns, Val::Int(1 << 61));
        let quarters = self.shr(Type::U64, nearest, 62);
        let whole = self.shl(Type::S64, quarters, 62);
        let fraction = self.sub(Type::S64, turns, whole);
        let fraction =
            self.pure(Opcode::Cvt, mods![Word::Rn, Type::F64, Type::S64], Type::F64, &[fraction]);
        let unit = std::f64::consts::FRAC_PI_2 * 2_f64.powi(-62);
        let rest = self.float(Opcode::Mul, Type::F64, &[fraction, Val::F64(unit.to_bits())]);
        let rest =
            self.pure(Opcode::Cvt, mods![Word::Rn, Type::F32, Type::F64], Type::F32, &[rest]);
        let quarters = self.narrow(quarters);
        let minus_quarters = self.sub(Type::S32, Val::Int(0), quarters);
        let minus_rest = self.neg_f32(rest);
        let negative = self.compare(Word::Lt, Type::S32, bits, Val::Int(0));
        let quarters = self.select(Type::U32, negative, minus_quarters, quarters);
        let rest = self.select_f32(negative, minus_rest, rest);
        // Zero, or NaN of infinity.
        let rest = self.fma_f32(x, f32_const(0.0), rest);
        Reduced { rest, quarters }
    }
}
