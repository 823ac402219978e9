//! Types and state spaces (PTX ISA, "State Spaces, Types, and Variables").

/// A fundamental or instruction type, as it follows an opcode or a `.reg`.
///
/// The variants are spelled as in the manual, in capitals: `Type::F16x2` prints as `f16x2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// A predicate register.
    Pred,
    /// 1 untyped bit (`mma` on binary operands).
    B1,
    /// 8 untyped bits.
    B8,
    /// 16 untyped bits.
    B16,
    /// 32 untyped bits.
    B32,
    /// 64 untyped bits.
    B64,
    /// 128 untyped bits.
    B128,
    /// 4-bit unsigned integer (`mma`).
    U4,
    /// 8-bit unsigned integer.
    U8,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit unsigned integer.
    U64,
    /// 4-bit signed integer (`mma`).
    S4,
    /// 8-bit signed integer.
    S8,
    /// 16-bit signed integer.
    S16,
    /// 32-bit signed integer.
    S32,
    /// 64-bit signed integer.
    S64,
    /// Two 16-bit unsigned integers.
    U16x2,
    /// Two 16-bit signed integers.
    S16x2,
    /// IEEE binary16.
    F16,
    /// Two binary16 values.
    F16x2,
    /// IEEE binary32.
    F32,
    /// Two binary32 values.
    F32x2,
    /// IEEE binary64.
    F64,
    /// bfloat16.
    Bf16,
    /// Two bfloat16 values.
    Bf16x2,
    /// TensorFloat-32: 19 significant bits of a 32-bit register.
    Tf32,
    /// FP8 number, 4 exponent bits, 3 mantissa bits.
    E4m3,
    /// FP8 number, 5 exponent bits, 2 mantissa bits.
    E5m2,
    /// Two `e4m3` values.
    E4m3x2,
    /// Two `e5m2` values.
    E5m2x2,
    /// 6-bit float, 3 exponent bits, 2 mantissa bits.
    E3m2,
    /// 6-bit float, 2 exponent bits, 3 mantissa bits.
    E2m3,
    /// 4-bit float, 2 exponent bits, 1 mantissa bit.
    E2m1,
    /// Two `e3m2` values.
    E3m2x2,
    /// Two `e2m3` values.
    E2m3x2,
    /// Two `e2m1` values.
    E2m1x2,
    /// Four `e4m3` values.
    E4m3x4,
    /// Four `e5m2` values.
    E5m2x4,
    /// Four `e3m2` values.
    E3m2x4,
    /// Four `e2m3` values.
    E2m3x4,
    /// Four `e2m1` values.
    E2m1x4,
    /// 8-bit scale: an unsigned exponent.
    Ue8m0,
    /// Two `ue8m0` values.
    Ue8m0x2,
    /// 7-bit scale: 4 exponent bits, 3 mantissa bits, no sign.
    Ue4m3,
}

/// A state space (PTX ISA, "State Spaces").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Registers.
    Reg,
    /// Constant memory.
    Const,
    /// Global memory.
    Global,
    /// Memory of one thread.
    Local,
    /// Kernel or function parameters.
    Param,
    /// Shared memory of a CTA or cluster.
    Shared,
}

impl Type {
    /// Every type, in the order of the declaration.
    pub const ALL: &[Type] = &[
        Type::Pred,
        Type::B1,
        Type::B8,
        Type::B16,
        Type::B32,
        Type::B64,
        Type::B128,
        Type::U4,
        Type::U8,
        Type::U16,
        Type::U32,
        Type::U64,
        Type::S4,
        Type::S8,
        Type::S16,
        Type::S32,
        Type::S64,
        Type::U16x2,
        Type::S16x2,
        Type::F16,
        Type::F16x2,
        Type::F32,
        Type::F32x2,
        Type::F64,
        Type::Bf16,
        Type::Bf16x2,
        Type::Tf32,
        Type::E4m3,
        Type::E5m2,
        Type::E4m3x2,
        Type::E5m2x2,
        Type::E3m2,
        Type::E2m3,
        Type::E2m1,
        Type::E3m2x2,
        Type::E2m3x2,
        Type::E2m1x2,
        Type::E4m3x4,
        Type::E5m2x4,
        Type::E3m2x4,
        Type::E2m3x4,
        Type::E2m1x4,
        Type::Ue8m0,
        Type::Ue8m0x2,
        Type::Ue4m3,
    ];

    /// The spelling in PTX text, without the dot.
    pub const fn text(self) -> &'static str {
        match self {
            Type::Pred => "pred",
            Type::B1 => "b1",
            Type::B8 => "b8",
            Type::B16 => "b16",
            Type::B32 => "b32",
            Type::B64 => "b64",
            Type::B128 => "b128",
            Type::U4 => "u4",
            Type::U8 => "u8",
            Type::U16 => "u16",
            Type::U32 => "u32",
            Type::U64 => "u64",
            Type::S4 => "s4",
            Type::S8 => "s8",
            Type::S16 => "s16",
            Type::S32 => "s32",
            Type::S64 => "s64",
            Type::U16x2 => "u16x2",
            Type::S16x2 => "s16x2",
            Type::F16 => "f16",
            Type::F16x2 => "f16x2",
            Type::F32 => "f32",
            Type::F32x2 => "f32x2",
            Type::F64 => "f64",
            Type::Bf16 => "bf16",
            Type::Bf16x2 => "bf16x2",
            Type::Tf32 => "tf32",
            Type::E4m3 => "e4m3",
            Type::E5m2 => "e5m2",
            Type::E4m3x2 => "e4m3x2",
            Type::E5m2x2 => "e5m2x2",
            Type::E3m2 => "e3m2",
            Type::E2m3 => "e2m3",
            Type::E2m1 => "e2m1",
            Type::E3m2x2 => "e3m2x2",
            Type::E2m3x2 => "e2m3x2",
            Type::E2m1x2 => "e2m1x2",
            Type::E4m3x4 => "e4m3x4",
            Type::E5m2x4 => "e5m2x4",
            Type::E3m2x4 => "e3m2x4",
            Type::E2m3x4 => "e2m3x4",
            Type::E2m1x4 => "e2m1x4",
            Type::Ue8m0 => "ue8m0",
            Type::Ue8m0x2 => "ue8m0x2",
            Type::Ue4m3 => "ue4m3",
        }
    }

    /// The width in bits; a predicate counts as 1, two 6-bit floats as 16 (each in a byte).
    pub const fn bits(self) -> u32 {
        match self {
            Type::Pred | Type::B1 => 1,
            Type::U4 | Type::S4 | Type::E2m1 => 4,
            Type::E3m2 | Type::E2m3 => 6,
            Type::B8
            | Type::U8
            | Type::S8
            | Type::E4m3
            | Type::E5m2
            | Type::E2m1x2
            | Type::Ue8m0
            | Type::Ue4m3 => 8,
            Type::B16
            | Type::U16
            | Type::S16
            | Type::F16
            | Type::Bf16
            | Type::E4m3x2
            | Type::E5m2x2
            | Type::E3m2x2
            | Type::E2m3x2
            | Type::E2m1x4
            | Type::Ue8m0x2 => 16,
            Type::B32
            | Type::U32
            | Type::S32
            | Type::U16x2
            | Type::S16x2
            | Type::F16x2
            | Type::F32
            | Type::Bf16x2
            | Type::Tf32
            | Type::E4m3x4
            | Type::E5m2x4
            | Type::E3m2x4
            | Type::E2m3x4 => 32,
            Type::B64 | Type::U64 | Type::S64 | Type::F32x2 | Type::F64 => 64,
            Type::B128 => 128,
        }
    }

    /// The bytes that an element takes in memory: at least 1.
    pub const fn bytes(self) -> u64 {
        (self.bits() as u64).div_ceil(8)
    }
}

impl Space {
    /// Every state space, in the order of the declaration.
    pub const ALL: &[Space] =
        &[Space::Reg, Space::Const, Space::Global, Space::Local, Space::Param, Space::Shared];

    /// The spelling in PTX text, without the dot.
    pub const fn text(self) -> &'static str {
        match self {
            Space::Reg => "reg",
            Space::Const => "const",
            Space::Global => "global",
            Space::Local => "local",
            Space::Param => "param",
            Space::Shared => "shared",
        }
    }
}

impl Type {
    /// `.b8` to `.b128`: bits without a meaning.
    pub const fn is_untyped(self) -> bool {
        matches!(self, Type::B1 | Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128)
    }

    /// A signed or unsigned integer, or two of them.
    pub const fn is_integer(self) -> bool {
        self.is_signed()
            || matches!(self, Type::U4 | Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::U16x2)
    }

    /// A signed integer, or two of them.
    pub const fn is_signed(self) -> bool {
        matches!(self, Type::S4 | Type::S8 | Type::S16 | Type::S32 | Type::S64 | Type::S16x2)
    }

    /// A register of this type can hold an address.
    pub(crate) const fn is_addressing(self) -> bool {
        matches!(self, Type::B32 | Type::U32 | Type::S32 | Type::B64 | Type::U64 | Type::S64)
    }

    /// The integer of twice the width, as `mul.wide` makes it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other type is widened")]
    pub(crate) const fn wide(self) -> Option<Type> {
        match self {
            Type::U16 => Some(Type::U32),
            Type::S16 => Some(Type::S32),
            Type::U32 => Some(Type::U64),
            Type::S32 => Some(Type::S64),
            _ => None,
        }
    }

    /// What the name of a register starts with where a compiler made it.
    pub(crate) fn register_prefix(self) -> &'static str {
        if self == Type::F32 {
            return "%f";
        }
        if self == Type::F64 {
            return "%fd";
        }
        match self.bits() {
            1 => "%p",
            0..=8 => "%b",
            9..=16 => "%h",
            17..=32 => "%r",
            33..=64 => "%rd",
            _ => "%q",
        }
    }
}
