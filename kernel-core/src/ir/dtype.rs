//! The element types.

/// An element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dtype {
    /// One byte in memory, 0 or 1; a predicate in registers.
    Bool,
    /// 8-bit signed integer.
    I8,
    /// 16-bit signed integer.
    I16,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer.
    I64,
    /// 8-bit unsigned integer.
    U8,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit unsigned integer.
    U64,
    /// IEEE binary16.
    F16,
    /// bfloat16.
    Bf16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// Four bits of exponent and three of fraction, without infinities: stored, converted and multiplied, not computed with
    /// (OCP 8-bit Floating Point Specification, "E4M3").
    E4m3,
    /// Five bits of exponent and two of fraction; as `E4m3` otherwise (the same specification, "E5M2").
    E5m2,
    /// Two FP4 numbers in a byte, the first in the lower half: bits that tensor cores alone read (OCP Microscaling Formats,
    /// "FP4 E2M1"; PTX ISA, "Packed Data Types": `.e2m1x2`).
    E2m1x2,
    /// A power of two, by eight bits of exponent: a scale of block-scaled products (OCP Microscaling Formats, "E8M0").
    Ue8m0,
}

impl Dtype {
    /// Every element type.
    pub const ALL: [Dtype; 17] = [
        Dtype::Bool,
        Dtype::I8,
        Dtype::I16,
        Dtype::I32,
        Dtype::I64,
        Dtype::U8,
        Dtype::U16,
        Dtype::U32,
        Dtype::U64,
        Dtype::F16,
        Dtype::Bf16,
        Dtype::F32,
        Dtype::F64,
        Dtype::E4m3,
        Dtype::E5m2,
        Dtype::E2m1x2,
        Dtype::Ue8m0,
    ];

    /// The name in kernels.
    pub const fn name(self) -> &'static str {
        match self {
            Dtype::Bool => "bool",
            Dtype::I8 => "i8",
            Dtype::I16 => "i16",
            Dtype::I32 => "i32",
            Dtype::I64 => "i64",
            Dtype::U8 => "u8",
            Dtype::U16 => "u16",
            Dtype::U32 => "u32",
            Dtype::U64 => "u64",
            Dtype::F16 => "f16",
            Dtype::Bf16 => "bf16",
            Dtype::F32 => "f32",
            Dtype::F64 => "f64",
            Dtype::E4m3 => "e4m3",
            Dtype::E5m2 => "e5m2",
            Dtype::E2m1x2 => "e2m1x2",
            Dtype::Ue8m0 => "ue8m0",
        }
    }

    /// The type that a kernel calls `name`.
    pub fn from_name(name: &str) -> Option<Dtype> {
        Dtype::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Bytes of one element in memory.
    pub const fn bytes(self) -> u32 {
        match self {
            Dtype::Bool
            | Dtype::I8
            | Dtype::U8
            | Dtype::E4m3
            | Dtype::E5m2
            | Dtype::E2m1x2
            | Dtype::Ue8m0 => 1,
            Dtype::I16 | Dtype::U16 | Dtype::F16 | Dtype::Bf16 => 2,
            Dtype::I32 | Dtype::U32 | Dtype::F32 => 4,
            Dtype::I64 | Dtype::U64 | Dtype::F64 => 8,
        }
    }

    /// How many numbers an element is: two of FP4.
    pub const fn numbers(self) -> u32 {
        match self {
            Dtype::E2m1x2 => 2,
            Dtype::Bool
            | Dtype::I8
            | Dtype::I16
            | Dtype::I32
            | Dtype::I64
            | Dtype::U8
            | Dtype::U16
            | Dtype::U32
            | Dtype::U64
            | Dtype::F16
            | Dtype::Bf16
            | Dtype::F32
            | Dtype::F64
            | Dtype::E4m3
            | Dtype::E5m2
            | Dtype::Ue8m0 => 1,
        }
    }

    /// A floating-point type, of whichever size.
    pub const fn is_float(self) -> bool {
        matches!(self, Dtype::F16 | Dtype::Bf16 | Dtype::F32 | Dtype::F64) || self.is_float8()
    }

    /// An FP8 format. No instruction computes with these: they are stored, converted, and factors of products.
    pub const fn is_float8(self) -> bool {
        matches!(self, Dtype::E4m3 | Dtype::E5m2)
    }

    /// Bits that nothing but products of tensor cores reads as numbers. They are neither floats nor integers: no instruction computes
    /// with them, and the language converts none.
    pub const fn is_opaque(self) -> bool {
        matches!(self, Dtype::E2m1x2 | Dtype::Ue8m0)
    }

    /// A number type that arithmetic and comparisons are defined on.
    pub const fn has_arithmetic(self) -> bool {
        !matches!(self, Dtype::Bool) && !self.is_float8() && !self.is_opaque()
    }

    /// A signed integer type.
    pub const fn is_signed(self) -> bool {
        matches!(self, Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64)
    }

    /// An integer type, signed or not.
    pub const fn is_int(self) -> bool {
        !self.is_float() && !matches!(self, Dtype::Bool) && !self.is_opaque()
    }
}
