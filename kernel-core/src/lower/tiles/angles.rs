//! Sine and cosine of `f32`.
//!
//! The angle is reduced to r within ±π/4 and the number of quarter turns that were taken off. Up to 2^17 three products do that:
//! the first is exact, and each has the next part of π/2. Further out the bits of 2/π are multiplied with the angle in integers,
//! behind one branch for all elements of a thread.

use kernel_ptx::{Guard, Opcode, Operand, Type, Word};

use super::functions::{ROUNDER, f32_const};
use crate::ir::{Dtype, Transcendental};
use crate::lower::emitter::bits::sign_extended;
use crate::lower::emitter::{Emitter, FrameKind, Val, mods};

/// From here on angles are reduced in integers.
const FAR: f32 = 131_072.0;

/// The bits of 2/π after the point, after 32 zeros.
const TWO_OVER_PI: [u32; 7] =
    [0, 0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041];

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
        let x: Vec<Val> =
            x.iter().map(|&x| if half { self.half_to_f32(dtype, x) } else { x }).collect();
        let mut reduced: Vec<Reduced> = x.iter().map(|&x| self.reduced_near(x)).collect();
        // No f16 is that far out.
        if dtype != Dtype::F16 {
            self.reduce_far(&x, &mut reduced);
        }
        let sines = x.iter().zip(reduced).map(|(&x, angle)| {
            let mut sine = self.sine(function, angle);
            if function == Transcendental::Sin {
                // The sums give +0 for -0.
                let zero = self.compare_float(Word::Eq, Type::F32, x, f32_const(0.0));
                sine = self.select_f32(zero, x, sine);
            }
            if half { self.f32_to_half(dtype, sine) } else { sine }
        });
        sines.collect()
    }

    /// n is the integer nearest to x · 2/π.
    fn reduced_near(&mut self, x: Val) -> Reduced {
        /// What the `f32` nearest to π/2 leaves out, and what the `f32` nearest to that does.
        const LOW: [f32; 2] = [-4.371_139e-8, -1.715_124_5e-15];
        let sum = self.fma_f32(x, f32_const(std::f32::consts::FRAC_2_PI), f32_const(ROUNDER));
        let minus_n = self.sub_f32(f32_const(ROUNDER), sum);
        let rest = self.fma_f32(minus_n, f32_const(std::f32::consts::FRAC_PI_2), x);
        let rest = self.fma_f32(minus_n, f32_const(LOW[0]), rest);
        let rest = self.fma_f32(minus_n, f32_const(LOW[1]), rest);
        Reduced { rest, quarters: self.bits_of_f32(sum) }
    }

    /// Replaces the reduction of numbers that are far out, if there is one.
    fn reduce_far(&mut self, x: &[Val], reduced: &mut [Reduced]) {
        let magnitudes: Vec<Val> = x.iter().map(|&x| self.abs_f32(x)).collect();
        // NaN loses.
        let greatest = magnitudes
            .iter()
            .copied()
            .reduce(|a, b| self.pure(Opcode::Max, mods![Type::F32], Type::F32, &[a, b]));
        let Some(greatest) = greatest else { return };
        let outer = self.current();
        let slots: Vec<_> = reduced
            .iter()
            .map(|angle| {
                let [rest, quarters] =
                    [(Type::F32, angle.rest), (Type::B32, angle.quarters)].map(|(ty, value)| {
                        let slot = self.fresh_in(ty, outer);
                        self.assign(slot, value);
                        slot
                    });
                (rest, quarters)
            })
            .collect();
        let far = self.compare_float(Word::Ge, Type::F32, greatest, f32_const(FAR));
        let predicate = self.reg(far, Type::Pred);
        let end = self.label();
        let near = Some(Guard { predicate, negated: true });
        self.effect_if(near, Opcode::Bra, &[], [Operand::Label(end)]);
        self.enter(FrameKind::Branch);
        for (((&x, &magnitude), angle), &(rest, quarters)) in
            x.iter().zip(&magnitudes).zip(&mut *reduced).zip(&slots)
        {
            let by_bits = self.reduced_far(x);
            let far = self.compare_float(Word::Ge, Type::F32, magnitude, f32_const(FAR));
            let new_rest = self.select_f32(far, by_bits.rest, angle.rest);
            let new_quarters = self.select(Type::U32, far, by_bits.quarters, angle.quarters);
            self.assign(rest, new_rest);
            self.assign(quarters, new_quarters);
            *angle = Reduced { rest: Val::Reg(rest), quarters: Val::Reg(quarters) };
        }
        self.leave();
        self.place_label(end);
        // Threads whose angles are near skip the branch.
        self.sync_warp();
    }

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
        let word = |at: usize| Val::Int(sign_extended(i64::from(TWO_OVER_PI[at]), 32));
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

    /// The sine of r + n · π/2: r + r³ · p(r²) or 1 + r² · q(r²), by n, or its negative. A cosine is a sine one quarter further.
    fn sine(&mut self, function: Transcendental, angle: Reduced) -> Val {
        const SINE: [u32; 3] = [0xbe2a_aaa3, 0x3c08_83bb, 0xb94c_a975];
        const COSINE: [u32; 4] = [0xbf00_0000, 0x3d2a_aaa5, 0xbab6_0614, 0x37cc_f409];
        let quarters = if function == Transcendental::Cos {
            self.add(Type::S32, angle.quarters, Val::Int(1))
        } else {
            angle.quarters
        };
        let square = self.mul_f32(angle.rest, angle.rest);
        let p = self.polynomial(&SINE, square);
        let cube = self.mul_f32(angle.rest, square);
        let sine = self.fma_f32(cube, p, angle.rest);
        let q = self.polynomial(&COSINE, square);
        let cosine = self.fma_f32(square, q, f32_const(1.0));
        let odd = self.and(Type::U32, quarters, Val::Int(1));
        let odd = self.compare(Word::Ne, Type::S32, odd, Val::Int(0));
        let value = self.select_f32(odd, cosine, sine);
        let sign = self.and(Type::U32, quarters, Val::Int(2));
        let sign = self.shl(Type::S32, sign, 30);
        let bits = self.bits_of_f32(value);
        let bits = self.xor(Type::U32, bits, sign);
        self.f32_of_bits(bits)
    }
}
