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

    /// The word of four elements of one byte: that which they came from, where they did.
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
