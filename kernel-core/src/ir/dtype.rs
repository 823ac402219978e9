//! The element types, a row for each, which every phase reads.
//!
//! A row has all facts of a type. What a type is taken for follows from its [`Class`], which has no "otherwise": a new class does not
//! compile until every phase that computes handles it. `docs/adding-a-type.md` says what to touch.

use kernel_ptx::{Type, Word};

/// What kind of number an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A truth value.
    Bool,
    /// A signed integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A floating-point number that instructions compute with.
    Float(Float),
    /// An FP8 number. No instruction computes with these: they are stored, converted, and operands of products.
    Float8(Float8),
    /// Bits that nothing but products of tensor cores reads as numbers. They are neither floats nor integers: no instruction
    /// computes with them, and the language converts none.
    Opaque,
}

/// A floating-point format that instructions compute with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Float {
    /// IEEE binary16.
    F16,
    /// bfloat16.
    Bf16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

/// A floating-point format of eight bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Float8 {
    /// Four bits of exponent.
    E4m3,
    /// Five bits of exponent.
    E5m2,
}

/// A register that holds an element: as many bits, or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// A predicate.
    Pred,
    /// 16 bits.
    B16,
    /// 32 bits; narrower integers are extended by their sign, and bits of another meaning by zeros.
    B32,
    /// 64 bits.
    B64,
    /// A float of 32 bits.
    F32,
    /// A float of 64 bits.
    F64,
}

impl Register {
    /// The PTX type.
    pub const fn ty(self) -> Type {
        match self {
            Register::Pred => Type::Pred,
            Register::B16 => Type::B16,
            Register::B32 => Type::B32,
            Register::B64 => Type::B64,
            Register::F32 => Type::F32,
            Register::F64 => Type::F64,
        }
    }
}

/// The numbers of a floating-point format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    /// Bits of the fraction, without the hidden one.
    pub fraction_bits: u32,
    /// The exponent of the smallest normal number.
    pub least_exponent: i32,
    /// The largest finite number.
    pub max: f64,
}

impl Float {
    /// The format.
    pub const fn format(self) -> Format {
        let (fraction_bits, least_exponent, max) = match self {
            Float::F16 => (10, -14, 65504.0),
            Float::Bf16 => (7, -126, 3.389_531_389_251_535_5e38),
            Float::F32 => (23, -126, f32::MAX as f64),
            Float::F64 => (52, -1022, f64::MAX),
        };
        Format { fraction_bits, least_exponent, max }
    }
}

impl Float8 {
    /// The format.
    pub const fn format(self) -> Format {
        let (fraction_bits, least_exponent, max) = match self {
            Float8::E4m3 => (3, -6, 448.0),
            Float8::E5m2 => (2, -14, 57344.0),
        };
        Format { fraction_bits, least_exponent, max }
    }
}

/// An element type of tensor maps (CUDA driver API, `CUtensorMapDataType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MapElement {
    /// The name by which the runtime finds it.
    pub name: &'static str,
    /// Its number.
    pub number: u32,
}

/// Where a program has the type from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// It is Rust's own.
    Rust,
    /// Kiln's prelude has it.
    Prelude,
}

/// What tensor cores make of an operand of a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// The type of `mma.sync` and `wgmma`; none if they do not multiply such operands. `wgmma` multiplies no numbers of
    /// fewer than eight bits.
    pub mma: Option<Type>,
    /// The kind of `tcgen05.mma` and the type's number in instruction descriptors (PTX ISA, "tcgen05.mma: Instruction descriptor").
    pub tcgen05: Option<(Word, u32)>,
    /// The element types of the accumulator, the first that of accumulators without a type.
    pub sums: &'static [Dtype],
}

/// An element that holds several numbers narrower than a byte: bits that tensor cores alone read.
///
/// `.kind::f8f6f4` and `.kind::mxf8f6f4` find them padded in shared memory: each sixteen numbers in sixteen bytes, of which they fill the
/// first ones (PTX ISA, "tcgen05.mma: Packing formats used in shared memory").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Packing {
    /// The numbers of an element, the first in its lowest bits.
    pub numbers: u32,
    /// Bits of the exponent and of the fraction of a number.
    pub format: [u32; 2],
    /// The element type of the tensor map that pads on the way.
    pub map: MapElement,
    /// Whether other kinds read the elements as they are in a tensor, one directly after the other.
    pub dense: bool,
    /// What the numbers are called.
    pub of: &'static str,
    /// What an element is.
    pub what: &'static str,
}

impl Packing {
    /// The bytes of sixteen numbers.
    pub const fn filled_bytes(self) -> u32 {
        2 * (1 + self.format[0] + self.format[1])
    }
}

/// Everything that is known of an element type.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name in kernels.
    pub name: &'static str,
    /// Bytes of one element of a tensor.
    pub bytes: u32,
    /// What kind of number it is.
    pub class: Class,
    /// The type of instructions that read and write memory.
    pub memory: Type,
    /// The type of instructions that compute, or hold what is only moved: `.s32` for `i8`, whose registers have 32 bits.
    pub instruction: Type,
    /// The element type of tensor maps; bytes are copied as what has their size.
    pub map: MapElement,
    /// Where a program has the type from.
    pub host: Host,
    /// What it is as an operand of a product; nothing for types that tensor cores do not multiply.
    pub factor: Option<Factor>,
    /// How several numbers of an element are padded.
    pub packing: Option<Packing>,
}

const fn map(name: &'static str, number: u32) -> MapElement {
    MapElement { name, number }
}

const U8: MapElement = map("u8", 0);
const U16: MapElement = map("u16", 1);

const fn factor(mma: Type, tcgen05: (Word, u32), sums: &'static [Dtype]) -> Factor {
    Factor { mma: Some(mma), tcgen05: Some(tcgen05), sums }
}

/// What `.kind::f8f6f4` multiplies, that of `mma.sync` and that of `tcgen05.mma`.
const fn narrow(mma: Type, number: u32) -> Factor {
    factor(mma, (Word::KindF8f6f4, number), HALF_SUMS)
}

const HALF_SUMS: &[Dtype] = &[Dtype::F32, Dtype::F16];
const F32_SUMS: &[Dtype] = &[Dtype::F32];
const I32_SUMS: &[Dtype] = &[Dtype::I32];
/// By multiply-add.
const F64_FACTOR: Option<Factor> = Some(Factor { mma: None, tcgen05: None, sums: &[Dtype::F64] });
const FP4: Option<Packing> = Some(Packing {
    numbers: 2,
    format: [2, 1],
    map: map("16u4_align16b", 14),
    dense: true,
    of: "FP4",
    what: "two FP4 numbers in a byte",
});

const FP6: MapElement = map("16u6_align16b", 15);

/// Sixteen numbers in twelve bytes: no kind reads them but padded.
const fn fp6(format: [u32; 2]) -> Packing {
    let what = "sixteen FP6 numbers in twelve bytes";
    Packing { numbers: 16, format, map: FP6, dense: false, of: "FP6", what }
}

macro_rules! dtypes {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal $bytes:literal ($class:expr) [$memory:ident $instruction:ident]
        $map:expr, $host:ident, $factor:expr, $packing:expr;)*) => {
        /// An element type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Dtype {
            $($(#[doc = $doc])+ $variant,)*
        }

        impl Dtype {
            /// Every element type.
            pub const ALL: &'static [Dtype] = &[$(Dtype::$variant),*];

            /// The facts.
            pub const fn row(self) -> &'static Row {
                match self {
                    $(Dtype::$variant => const { &Row {
                        name: $name,
                        bytes: $bytes,
                        class: $class,
                        memory: Type::$memory,
                        instruction: Type::$instruction,
                        map: $map,
                        host: Host::$host,
                        factor: $factor,
                        packing: $packing,
                    } },)*
                }
            }
        }
    };
}

dtypes! {
    /// One byte in memory, 0 or 1; a predicate in registers.
    Bool "bool" 1 (Class::Bool) [U8 Pred] U8, Rust, None, None;
    /// 8-bit signed integer.
    I8 "i8" 1 (Class::Signed) [S8 S32] U8, Rust, Some(factor(Type::S8, (Word::KindI8, 1), I32_SUMS)), None;
    /// 16-bit signed integer.
    I16 "i16" 2 (Class::Signed) [S16 S32] U16, Rust, None, None;
    /// 32-bit signed integer.
    I32 "i32" 4 (Class::Signed) [S32 S32] map("i32", 3), Rust, None, None;
    /// 64-bit signed integer.
    I64 "i64" 8 (Class::Signed) [S64 S64] map("i64", 5), Rust, None, None;
    /// 8-bit unsigned integer.
    U8 "u8" 1 (Class::Unsigned) [U8 U32] U8, Rust, Some(factor(Type::U8, (Word::KindI8, 0), I32_SUMS)), None;
    /// 16-bit unsigned integer.
    U16 "u16" 2 (Class::Unsigned) [U16 U32] U16, Rust, None, None;
    /// 32-bit unsigned integer.
    U32 "u32" 4 (Class::Unsigned) [U32 U32] map("u32", 2), Rust, None, None;
    /// 64-bit unsigned integer.
    U64 "u64" 8 (Class::Unsigned) [U64 U64] map("u64", 4), Rust, None, None;
    /// IEEE binary16.
    F16 "f16" 2 (Class::Float(Float::F16)) [B16 F16]
        map("f16", 6), Prelude, Some(factor(Type::F16, (Word::KindF16, 0), HALF_SUMS)), None;
    /// bfloat16.
    Bf16 "bf16" 2 (Class::Float(Float::Bf16)) [B16 Bf16]
        map("bf16", 9), Prelude, Some(factor(Type::Bf16, (Word::KindF16, 1), F32_SUMS)), None;
    /// IEEE binary32; tensor cores multiply it as tf32.
    F32 "f32" 4 (Class::Float(Float::F32)) [F32 F32]
        map("f32", 7), Rust, Some(factor(Type::Tf32, (Word::KindTf32, 2), F32_SUMS)), None;
    /// IEEE binary64.
    F64 "f64" 8 (Class::Float(Float::F64)) [F64 F64] map("f64", 8), Rust, F64_FACTOR, None;
    /// Four bits of exponent and three of fraction, without infinities: stored, converted and multiplied, not computed with
    /// (OCP 8-bit Floating Point Specification, "E4M3").
    E4m3 "e4m3" 1 (Class::Float8(Float8::E4m3)) [U8 U32]
        U8, Prelude, Some(narrow(Type::E4m3, 0)), None;
    /// Five bits of exponent and two of fraction; as `E4m3` otherwise (the same specification, "E5M2").
    E5m2 "e5m2" 1 (Class::Float8(Float8::E5m2)) [U8 U32]
        U8, Prelude, Some(narrow(Type::E5m2, 1)), None;
    /// Two FP4 numbers in a byte, the first in the lower half: bits that tensor cores alone read (OCP Microscaling Formats,
    /// "FP4 E2M1"; PTX ISA, "Packed Data Types": `.e2m1x2`).
    E2m1x2 "e2m1x2" 1 (Class::Opaque) [U8 U32] U8, Prelude, Some(narrow(Type::E2m1, 5)), FP4;
    /// A power of two, by eight bits of exponent: a scale of block-scaled products (OCP Microscaling Formats, "E8M0").
    Ue8m0 "ue8m0" 1 (Class::Opaque) [U8 U32] U8, Prelude, None, None;
    /// Sixteen FP6 numbers in twelve bytes, the first in the lowest bits: bits that tensor cores alone read, and no register holds (OCP
    /// Microscaling Formats, "FP6 E2M3").
    E2m3x16 "e2m3x16" 12 (Class::Opaque) [B128 B128]
        FP6, Prelude, Some(narrow(Type::E2m3, 3)), Some(fp6([2, 3]));
    /// As `E2m3x16`, with three bits of exponent and two of fraction (the same specification, "FP6 E3M2").
    E3m2x16 "e3m2x16" 12 (Class::Opaque) [B128 B128]
        FP6, Prelude, Some(narrow(Type::E3m2, 4)), Some(fp6([3, 2]));
}

impl Dtype {
    /// The name in kernels.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The type that a kernel calls `name`.
    pub fn from_name(name: &str) -> Option<Dtype> {
        Dtype::ALL.iter().copied().find(|dtype| dtype.name() == name)
    }

    /// Bytes of one element of a tensor.
    pub const fn bytes(self) -> u32 {
        self.row().bytes
    }

    /// Bytes of one element in shared memory, of an allocation whose layout does not pad.
    pub const fn shared_bytes(self) -> u32 {
        match self.row().packing {
            // Padded in any layout: to an instruction, a number takes up a byte.
            Some(Packing { numbers, dense: false, .. }) => numbers,
            Some(Packing { dense: true, .. }) | None => self.bytes(),
        }
    }

    /// Bytes that a number along `k` takes up for `.kind::f8f6f4` and the kinds of wider numbers.
    pub const fn number_bytes(self) -> u32 {
        if self.row().packing.is_some() { 1 } else { self.bytes() }
    }

    /// The fewest elements whose bytes are a multiple of `unit_bytes`, a power of two.
    pub const fn fewest_in(self, unit_bytes: u32) -> u32 {
        let step = 1 << self.bytes().trailing_zeros();
        if step >= unit_bytes { 1 } else { unit_bytes / step }
    }

    /// Whether a register holds an element. What none holds is moved by TMA, and read by products.
    pub const fn is_held(self) -> bool {
        self.shared_bytes() <= 8
    }

    /// What kind of number it is.
    pub const fn class(self) -> Class {
        self.row().class
    }

    /// How many numbers an element is: two of FP4.
    pub const fn numbers(self) -> u32 {
        match self.row().packing {
            Some(packing) => packing.numbers,
            None => 1,
        }
    }

    /// The format of a floating-point type.
    pub const fn format(self) -> Option<Format> {
        match self.class() {
            Class::Float(float) => Some(float.format()),
            Class::Float8(float) => Some(float.format()),
            Class::Bool | Class::Signed | Class::Unsigned | Class::Opaque => None,
        }
    }

    /// Whether it is a factor of eight bits or fewer, which `.kind::f8f6f4` multiplies with any other.
    pub const fn is_narrow(self) -> bool {
        match self.row().factor {
            Some(Factor { tcgen05: Some((Word::KindF8f6f4, _)), .. }) => true,
            Some(_) | None => false,
        }
    }

    /// Whether `wgmma` multiplies it.
    pub const fn is_wgmma_factor(self) -> bool {
        match self.row() {
            Row { factor: Some(Factor { mma: Some(_), .. }), packing: None, .. } => true,
            Row { .. } => false,
        }
    }

    /// A floating-point type, of whichever size.
    pub const fn is_float(self) -> bool {
        self.format().is_some()
    }

    /// An FP8 format.
    pub const fn is_float8(self) -> bool {
        matches!(self.class(), Class::Float8(_))
    }

    /// Bits that nothing but products of tensor cores reads as numbers.
    pub const fn is_opaque(self) -> bool {
        matches!(self.class(), Class::Opaque)
    }

    /// A number type that arithmetic and comparisons are defined on.
    pub const fn has_arithmetic(self) -> bool {
        matches!(self.class(), Class::Signed | Class::Unsigned | Class::Float(_))
    }

    /// A signed integer type.
    pub const fn is_signed(self) -> bool {
        matches!(self.class(), Class::Signed)
    }

    /// An integer type, signed or not.
    pub const fn is_int(self) -> bool {
        matches!(self.class(), Class::Signed | Class::Unsigned)
    }

    /// The largest number of an integer type.
    pub const fn largest_int(self) -> i128 {
        let bits = self.bytes() * 8;
        (1 << if self.is_signed() { bits - 1 } else { bits }) - 1
    }

    /// Whether an element of the other type has as many bits, and both are numbers in registers, so that one can be read as the other.
    pub const fn has_bits_of(self, other: Dtype) -> bool {
        let held = self.is_held() && other.is_held();
        let bool = matches!(self.class(), Class::Bool) || matches!(other.class(), Class::Bool);
        held && !bool && self.bytes() == other.bytes()
    }

    /// Whether a cast makes something else of it, and it of something else.
    pub const fn converts(self) -> bool {
        !self.is_opaque()
    }

    /// A floating-point type of 16 bits, of which a register of 32 bits holds two.
    pub const fn is_half(self) -> bool {
        matches!(self.class(), Class::Float(Float::F16 | Float::Bf16))
    }

    /// The register that holds an element.
    ///
    /// # Requires
    /// One does, see [`is_held`](Self::is_held).
    pub const fn register(self) -> Register {
        match self.class() {
            Class::Bool => Register::Pred,
            Class::Float(Float::F16 | Float::Bf16) => Register::B16,
            Class::Float(Float::F32) => Register::F32,
            Class::Float(Float::F64) => Register::F64,
            Class::Signed | Class::Unsigned | Class::Float8(_) | Class::Opaque => {
                if self.bytes() == 8 { Register::B64 } else { Register::B32 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Dtype, Host};

    fn names(of: impl Fn(Dtype) -> bool) -> String {
        let names = Dtype::ALL.iter().filter(|dtype| of(**dtype)).map(|dtype| dtype.name());
        names.collect::<Vec<_>>().join(" ")
    }

    /// What a type is taken for is said here a second time, so that a row with the wrong class is seen.
    #[test]
    fn types_are_taken_for_what_they_are() {
        assert_eq!(names(Dtype::is_int), "i8 i16 i32 i64 u8 u16 u32 u64");
        assert_eq!(names(Dtype::is_signed), "i8 i16 i32 i64");
        assert_eq!(names(Dtype::is_float), "f16 bf16 f32 f64 e4m3 e5m2");
        assert_eq!(names(Dtype::is_float8), "e4m3 e5m2");
        assert_eq!(names(Dtype::is_half), "f16 bf16");
        assert_eq!(names(Dtype::is_opaque), "e2m1x2 ue8m0 e2m3x16 e3m2x16");
        assert_eq!(names(|dtype| !dtype.is_held()), "e2m3x16 e3m2x16");
        assert_eq!(names(Dtype::has_arithmetic), "i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64");
        let rust = "bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64";
        assert_eq!(names(|dtype| dtype.row().host == Host::Rust), rust);
    }

    #[test]
    fn memory_and_registers_hold_an_element() {
        for &dtype in Dtype::ALL {
            let row = dtype.row();
            assert_eq!(Dtype::from_name(row.name), Some(dtype));
            assert_eq!(row.memory.bits(), 8 * dtype.shared_bytes(), "{dtype}");
            let register = dtype.register().ty();
            assert!(
                dtype == Dtype::Bool || !dtype.is_held() || register.bits() >= row.memory.bits(),
                "{dtype}"
            );
        }
    }
}
