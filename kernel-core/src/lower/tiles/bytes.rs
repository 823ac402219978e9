//! Four bytes to a word and back.
//!
//! Elements of one byte are held in 32 bits each, with sign or zero extension. Elements that were taken from one word become
//! that word again without an instruction: loads and matrix products pass words.

use kernel_ptx::{Opcode, Type};

use crate::ir::Dtype;
use crate::lower::emitter::bits::sign_extended;
use crate::lower::emitter::{Emitter, Val, mods};

/// `prmt` selectors (PTX ISA, "prmt"): a nibble names the source byte, 0 to 3 of the first operand, 4 to 7 of the second.
const LOW_BYTES: i64 = 0x0040;
const LOW_HALVES: i64 = 0x5410;
/// Each byte of the low half twice, and each of the high half.
const TWICE: [i64; 2] = [0x1100, 0x3322];
/// The low byte of each operand twice.
const BOTH_TWICE: i64 = 0x4400;
/// Bits 2 to 5 of the first and third byte, and of the others.
const EVEN_NUMBERS: i64 = 0x003c_003c;
const ODD_NUMBERS: i64 = 0x3c00_3c00;

impl Emitter {
    /// The four elements of one byte that a word holds, lowest first.
    pub(crate) fn unpack_bytes(&mut self, dtype: Dtype, word: Val) -> [Val; 4] {
        [0u8, 1, 2, 3].map(|index| {
            let shifted = self.shr(Type::U32, word, u32::from(index) * 8);
            let element = self.extend(dtype, shifted);
            if let (Val::Reg(element), Val::Reg(word)) = (element, word) {
                self.note_byte(element, word, index);
            }
            element
        })
    }

    /// The word of four elements of one byte: the word that they came from, if they came from one.
    pub(crate) fn pack_bytes(&mut self, parts: [Val; 4]) -> Val {
        if let Some(word) = self.word_of_bytes(parts) {
            return Val::Reg(word);
        }
        let [a, b, c, d] = parts;
        if let (Some(low), Some(high)) = (self.pair_of_bytes(a, b), self.pair_of_bytes(c, d)) {
            return self.pack(Val::Reg(low), Val::Reg(high));
        }
        let low = self.permute_bytes(a, b, LOW_BYTES);
        let high = self.permute_bytes(c, d, LOW_BYTES);
        self.permute_bytes(low, high, LOW_HALVES)
    }

    /// The four FP4 numbers of two bytes, each in bits 2 to 5 of a byte of its own: so `mma.sync` with `.kind::f8f6f4` reads them
    /// (PTX ISA, "Matrix Fragments for mma.m16n8k32").
    pub(crate) fn spread_numbers(&mut self, low: Val, high: Val) -> Val {
        let twice = if let (Val::Int(low), Val::Int(high)) = (low, high) {
            Val::Int(sign_extended(((low & 0xff) * 0x101) | ((high & 0xff) * 0x101_0000), 32))
        } else if let Some((word, half)) = self.half_of_bytes(low, high) {
            let word = Val::Reg(word);
            self.permute_bytes(word, word, TWICE[usize::from(half)])
        } else if let Some(pair) = self.pair_of_bytes(low, high) {
            let word = self.pack(Val::Reg(pair), Val::Int(0));
            self.permute_bytes(word, word, TWICE[0])
        } else {
            self.permute_bytes(low, high, BOTH_TWICE)
        };
        let (even, odd) = (self.shl(Type::U32, twice, 2), self.shr(Type::U32, twice, 2));
        let even = self.and(Type::U32, even, Val::Int(EVEN_NUMBERS));
        let odd = self.and(Type::U32, odd, Val::Int(ODD_NUMBERS));
        self.or(Type::U32, even, odd)
    }

    /// The low bytes of two values, in the low half of a word.
    pub(crate) fn pack_two_bytes(&mut self, low: Val, high: Val) -> Val {
        if let Some(pair) = self.pair_of_bytes(low, high) {
            return self.pack(Val::Reg(pair), Val::Int(0));
        }
        self.permute_bytes(low, high, LOW_BYTES)
    }

    /// The word of the low halves of two values.
    pub(crate) fn pack_low_halves(&mut self, low: Val, high: Val) -> Val {
        self.permute_bytes(low, high, LOW_HALVES)
    }

    fn permute_bytes(&mut self, a: Val, b: Val, selector: i64) -> Val {
        if let (Val::Int(a), Val::Int(b)) = (a, b) {
            let bits = if selector == LOW_HALVES {
                (a & 0xffff) | (b & 0xffff) << 16
            } else {
                (a & 0xff) | (b & 0xff) << 8
            };
            return Val::Int(sign_extended(bits, 32));
        }
        self.pure(Opcode::Prmt, mods![Type::B32], Type::B32, &[a, b, Val::Int(selector)])
    }
}
