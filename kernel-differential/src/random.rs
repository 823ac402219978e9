//! Operands: repeatable random values of every type, the awkward ones often.

use kernel_ptx::Type;

/// A generator of repeatable numbers (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", `SplitMix64`).
#[derive(Clone, Debug)]
pub struct Random(u64);

/// Integers at the ends of their ranges and of those of narrower types.
const INTEGERS: [u64; 16] = [
    0,
    1,
    2,
    31,
    32,
    63,
    64,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0x7fff_ffff,
    0x8000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
];

/// A binary floating-point format by the widths of its fields.
#[derive(Clone, Copy, Debug)]
struct Fields {
    exponent: u32,
    mantissa: u32,
}

impl Random {
    /// The generator of a name: the same values for the same name, on every machine.
    pub fn of(name: &str) -> Random {
        // Fowler, Noll, Vo: FNV-1a.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Random(hash)
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        // The bias is of no consequence where values are only spread.
        self.word() % end
    }

    /// The bits of a value of a type; each packed element is a value of its own.
    pub fn value(&mut self, ty: Type) -> u64 {
        let lanes = |random: &mut Random, bits: u32, count: u32, ty: Type| {
            (0..count).fold(0, |word, lane| word | random.value(ty) << (bits * lane))
        };
        match ty {
            Type::Pred => self.word() & 1,
            Type::F16 => self.float(Fields { exponent: 5, mantissa: 10 }),
            Type::Bf16 => self.float(Fields { exponent: 8, mantissa: 7 }),
            Type::F32 | Type::Tf32 => self.float(Fields { exponent: 8, mantissa: 23 }),
            Type::F64 => self.float(Fields { exponent: 11, mantissa: 52 }),
            Type::F16x2 => lanes(self, 16, 2, Type::F16),
            Type::Bf16x2 => lanes(self, 16, 2, Type::Bf16),
            Type::F32x2 => lanes(self, 32, 2, Type::F32),
            Type::U16x2 | Type::S16x2 => lanes(self, 16, 2, Type::U16),
            Type::B1
            | Type::B8
            | Type::B16
            | Type::B32
            | Type::B64
            | Type::B128
            | Type::U4
            | Type::U8
            | Type::U16
            | Type::U32
            | Type::U64
            | Type::S4
            | Type::S8
            | Type::S16
            | Type::S32
            | Type::S64
            | Type::E4m3
            | Type::E5m2
            | Type::E4m3x2
            | Type::E5m2x2
            | Type::E3m2
            | Type::E2m3
            | Type::E2m1
            | Type::E3m2x2
            | Type::E2m3x2
            | Type::E2m1x2
            | Type::E4m3x4
            | Type::E5m2x4
            | Type::E3m2x4
            | Type::E2m3x4
            | Type::E2m1x4
            | Type::Ue8m0
            | Type::Ue8m0x2
            | Type::Ue4m3 => self.integer() & ones(ty.bits().max(8)),
        }
    }

    /// Small, extreme, or any.
    fn integer(&mut self) -> u64 {
        let choice = self.word();
        let value = self.word();
        match choice % 8 {
            0 => INTEGERS[(choice >> 8) as usize % INTEGERS.len()],
            1 => INTEGERS[(choice >> 8) as usize % INTEGERS.len()].wrapping_neg(),
            2 => value >> ((choice >> 8) % 64),
            3 => (value >> ((choice >> 8) % 64)).wrapping_neg(),
            _ => value,
        }
    }

    /// Zeros, infinities, NaN with payloads, subnormals, powers of two and their neighbours, values near one, any.
    fn float(&mut self, fields: Fields) -> u64 {
        let Fields { exponent, mantissa } = fields;
        let choice = self.word();
        let any = self.word();
        let sign = (choice >> 63) << (exponent + mantissa);
        let (most, fraction) = (ones(exponent), ones(mantissa));
        let at =
            |field: u64, fraction_bits: u64| sign | field << mantissa | fraction_bits & fraction;
        let bias = most >> 1;
        match choice >> 8 & 31 {
            0 => at(0, 0),
            1 => at(most, 0),
            2 => at(most, any | 1),
            3 => at(0, any),
            4 => at(0, [1, 2, fraction, fraction - 1][(any & 3) as usize]),
            5 => at([1, most - 1][(any & 1) as usize], [0, 1, fraction][(any >> 8) as usize % 3]),
            6 => at(any & most, 0),
            7 => at(any & most, 1),
            8 => at(any & most, fraction),
            9..=11 => at(bias, any >> 16),
            12..=15 => at(bias - 2 + (any & 3), any >> 16),
            16..=19 => at(bias.saturating_sub(8) + (any & 15), any >> 16),
            // Whole numbers and halves: what conversions to integers round.
            20..=21 => at((bias + (any & 63)).min(most), any >> 8 & !ones(mantissa / 2)),
            _ => any & ones(1 + exponent + mantissa),
        }
    }
}

/// So many low bits.
pub fn ones(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}
