//! The operations of arithmetic, logic and comparison, by the bank of their operands.

use super::{D, P, Pred, Slot, W};
use crate::numeric::compare::Comparison;
use crate::numeric::format::Round;
use crate::numeric::integer::{Int, Permute, Range};
use crate::numeric::narrow::Half;
use crate::numeric::scalar::{Extreme, Mode, Selection};

/// A binary operation on integers of any type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntBinary {
    Add,
    Sub,
    MulLo,
    MulHi,
    /// The whole product, in a register of twice the width.
    MulWide,
    Min,
    Max,
}

/// A ternary operation on integers of any type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntTernary {
    MadLo,
    MadHi,
    MadWide,
    Sad,
}

/// A unary operation on f16 or bf16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NarrowUnary {
    Neg { ftz: bool },
    Abs { ftz: bool },
    Ex2 { ftz: bool },
    Tanh,
}

/// A binary operation on f16 or bf16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NarrowBinary {
    Add(Mode),
    Sub(Mode),
    Mul(Mode),
    Extreme(Extreme, Selection),
}

/// A ternary operation on f16 or bf16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NarrowTernary {
    Fma(Mode),
}

/// One 32-bit operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum W1 {
    Not,
    /// `.b16`
    Not16,
    /// Of 16 or 32 bits.
    Cnot {
        bits: u32,
    },
    Neg(Int),
    Abs(Int),
    Popc,
    Clz,
    Brev,
    Bfind {
        ty: Int,
        shift: bool,
    },
    FNeg {
        ftz: bool,
    },
    FAbs {
        ftz: bool,
    },
    FRcp(Mode),
    FSqrt(Mode),
    RcpApprox {
        ftz: bool,
    },
    SqrtApprox {
        ftz: bool,
    },
    RsqrtApprox {
        ftz: bool,
    },
    SinApprox {
        ftz: bool,
    },
    CosApprox {
        ftz: bool,
    },
    Lg2Approx {
        ftz: bool,
    },
    Ex2Approx {
        ftz: bool,
    },
    TanhApprox,
    Half(Half, NarrowUnary),
    Half2(Half, NarrowUnary),
}

/// Two 32-bit operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum W2 {
    Add,
    Sub,
    Mul,
    MulHiS,
    MulHiU,
    MinS,
    MinU,
    MaxS,
    MaxU,
    And,
    Or,
    Xor,
    Shl,
    ShrS,
    ShrU,
    AddSat,
    SubSat,
    Mul24 {
        signed: bool,
        hi: bool,
    },
    Shl16,
    Shr16(Int),
    Int(IntBinary, Int),
    /// `min` and `max` of `.s32`, negative results made 0.
    Relu(IntBinary),
    /// Both 16-bit halves.
    Pair {
        op: IntBinary,
        ty: Int,
        relu: bool,
    },
    Bmsk(Range),
    Szext {
        signed: bool,
        range: Range,
    },
    FAdd(Mode),
    FSub(Mode),
    FMul(Mode),
    FDiv(Mode),
    FDivApprox {
        ftz: bool,
    },
    FDivFull {
        ftz: bool,
    },
    FExtreme(Extreme, Selection),
    FCopysign,
    Half(Half, NarrowBinary),
    Half2(Half, NarrowBinary),
}

/// Three 32-bit operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum W3 {
    Mad,
    MadHiSat,
    Int(IntTernary, Int),
    Mad24 { signed: bool, hi: bool },
    Mad24HiSat,
    Lop3(u8),
    Prmt(Permute),
    ShfL(Range),
    ShfR(Range),
    Bfe(Int),
    Fns,
    Dp4a { a_signed: bool, b_signed: bool },
    Dp2a { a_signed: bool, b_signed: bool, hi: bool },
    FFma(Mode),
    FExtreme(Extreme, Selection),
    Half(Half, NarrowTernary),
    Half2(Half, NarrowTernary),
}

/// One 64-bit operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum D1 {
    Not,
    Cnot,
    Neg,
    Abs,
    Brev,
    FNeg,
    FAbs,
    FRcp(Round),
    FSqrt(Round),
    /// `rcp.approx.ftz.f64`
    FRcpApprox,
    /// `rsqrt.approx{.ftz}.f64`
    FRsqrtApprox {
        ftz: bool,
    },
}

/// Two 64-bit operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum D2 {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Int(IntBinary, Int),
    FAdd(Round),
    FSub(Round),
    FMul(Round),
    FDiv(Round),
    FExtreme(Extreme),
    FCopysign,
    /// Two f32 in one register.
    PairAdd(Mode),
    PairSub(Mode),
    PairMul(Mode),
}

/// Three 64-bit operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum D3 {
    Int(IntTernary, Int),
    FFma(Round),
    PairFma(Mode),
}

/// Shifts of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShiftOp {
    Left,
    Right { signed: bool },
}

/// Counts of bits of 64-bit values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountOp {
    Popc,
    Clz,
    Bfind { ty: Int, shift: bool },
}

/// A member of the carry chain.
#[derive(Clone, Debug)]
pub(crate) struct Carry {
    pub(crate) kind: CarryKind,
    pub(crate) ty: Int,
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
    pub(crate) c: Option<Slot>,
}

/// What a member of the carry chain computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CarryKind {
    Add,
    Sub,
    /// The low half of the product, plus `c`.
    MadLo,
    /// The high half of the product, plus `c`.
    MadHi,
}

/// `lop3` whose result, as "not zero", joins a predicate.
#[derive(Clone, Debug)]
pub(crate) struct Lop3Pred {
    pub(crate) table: u8,
    pub(crate) and: bool,
    pub(crate) d: Option<W>,
    pub(crate) p: P,
    pub(crate) a: W,
    pub(crate) b: W,
    pub(crate) c: W,
    pub(crate) q: Pred,
}

/// A comparison, with how the operands are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    /// 16, 32 or 64 bits.
    Int(Comparison, Int),
    F32 {
        op: Comparison,
        ftz: bool,
    },
    F64(Comparison),
    Half {
        op: Comparison,
        half: Half,
        ftz: bool,
    },
}

/// A comparison of both halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HalfCompare {
    pub(crate) op: Comparison,
    pub(crate) half: Half,
    pub(crate) ftz: bool,
}

/// What `set` writes for true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetResult {
    Ones,
    /// All ones in 16 bits.
    Ones16,
    F32,
    Half(Half),
}

/// What `set` writes for true in each half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetHalves {
    Ones,
    One(Half),
}

/// Special registers that change while a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Low,
    High,
    Whole,
}

/// The slots of `bfe` and `bfi` on 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BitField {
    pub(crate) d: D,
    pub(crate) a: D,
    pub(crate) b: D,
    pub(crate) position: W,
    pub(crate) length: W,
}
