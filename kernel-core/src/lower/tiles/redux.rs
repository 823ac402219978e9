//! Reductions over all lanes of a warp in one instruction: `redux.sync` and `vote.sync` (PTX ISA).

use kernel_layout::{Dim, Layout};
use kernel_ptx::{Capability, Instruction, Opcode, Operand, Type, Word};

use super::reduce::commutative;
use super::scalar::arithmetic;
use crate::ir::dtype::Register;
use crate::ir::{Binary, Dtype, Elem, Region};
use crate::lower::Lower;
use crate::lower::emitter::{Val, mods};
use crate::lower::sync::barrier::ALL_LANES;

/// One instruction that reduces what the lanes of a warp have.
#[derive(Clone, Copy, Debug)]
pub(super) enum WholeWarp {
    /// `redux.sync` of this operation and type, whose result is narrowed to the element type.
    Redux(Word, Type, Dtype),
    /// `vote.sync.all` or `vote.sync.any`.
    Vote(Word),
}

impl WholeWarp {
    /// Whether a value that several lanes have counts once.
    const fn counts_repeated_once(self) -> bool {
        !matches!(self, WholeWarp::Redux(Word::Add | Word::Xor, ..))
    }

    /// The instruction of an operation, where `floats` says whether `redux.sync` takes `f32`.
    fn of(op: Binary, elem: Elem, floats: bool) -> Option<WholeWarp> {
        let Elem::Number(dtype) = elem else { return None };
        let redux = |ty| Some(WholeWarp::Redux(redux_word(op)?, ty, dtype));
        match dtype.register() {
            Register::Pred if matches!(op, Binary::And | Binary::Mul | Binary::Min) => {
                Some(WholeWarp::Vote(Word::All))
            }
            Register::Pred if matches!(op, Binary::Or | Binary::Max) => {
                Some(WholeWarp::Vote(Word::Any))
            }
            // Integers are extended to the register, in the same order and with the same bits.
            Register::B32 if matches!(op, Binary::And | Binary::Or | Binary::Xor) => {
                redux(Type::B32)
            }
            Register::B32 if dtype.is_int() => redux(arithmetic(dtype)),
            Register::F32 if floats && matches!(op, Binary::Min | Binary::Max) => redux(Type::F32),
            Register::Pred
            | Register::B16
            | Register::B32
            | Register::B64
            | Register::F32
            | Register::F64 => None,
        }
    }
}

/// The word of an operation that `redux.sync` has.
const fn redux_word(op: Binary) -> Option<Word> {
    match op {
        Binary::Add => Some(Word::Add),
        Binary::Min => Some(Word::Min),
        Binary::Max => Some(Word::Max),
        Binary::And => Some(Word::And),
        Binary::Or => Some(Word::Or),
        Binary::Xor => Some(Word::Xor),
        Binary::Sub
        | Binary::Mul
        | Binary::Div
        | Binary::Rem
        | Binary::Shl
        | Binary::Shr
        | Binary::MulHi
        | Binary::Copysign
        | Binary::Powf => None,
    }
}

impl Lower<'_> {
    /// The one instruction that reduces an axis over the lanes of each warp, if all lanes walk it, or hold what others hold where
    /// that does no harm. It replaces a shuffle and an operation a bit of the lane, so at least two lie along the axis.
    pub(super) fn whole_warp(
        &self,
        layout: &Layout,
        axis: usize,
        combine: &Region,
        elems: &[Elem],
    ) -> Option<WholeWarp> {
        let &[elem] = elems else { return None };
        let floats = self.kernel.target.has(Capability::ReduxFloats);
        let whole = WholeWarp::of(commutative(combine)?, elem, floats)?;
        let lanes = layout.bases(Dim::Lane);
        let along = lanes.iter().filter(|basis| basis[axis] != 0).count();
        let repeated = lanes.iter().filter(|basis| basis.iter().all(|&part| part == 0)).count();
        let all = if whole.counts_repeated_once() { along + repeated } else { along };
        (along > 1 && all == lanes.len()).then_some(whole)
    }

    /// What the lanes of a warp have of one value each, reduced; every lane has the result.
    pub(super) fn reduce_warp(&mut self, whole: WholeWarp, value: Val) -> Val {
        let (opcode, modifiers, ty) = match whole {
            WholeWarp::Redux(word, ty, dtype) => {
                (Opcode::Redux, mods![Word::Sync, word, ty].to_vec(), dtype.register().ty())
            }
            WholeWarp::Vote(word) => {
                (Opcode::Vote, mods![Word::Sync, word, Type::Pred].to_vec(), Type::Pred)
            }
        };
        let source = self.e.reg(value, ty);
        let result = self.e.fresh(ty);
        let operands = [Operand::Reg(result), Operand::Reg(source), ALL_LANES];
        self.e.push(Instruction::new(opcode, modifiers, operands), 1, false);
        match whole {
            WholeWarp::Redux(Word::Add, _, dtype) => self.e.extend(dtype, Val::Reg(result)),
            WholeWarp::Redux(..) | WholeWarp::Vote(_) => Val::Reg(result),
        }
    }
}
