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
    /// 8-bit float, 4 exponent bits, 3 mantissa bits.
    E4m3,
    /// 8-bit float, 5 exponent bits, 2 mantissa bits.
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
