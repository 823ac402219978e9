//! Asynchronous copies.

use kernel_ptx::{Operand, Word};

use super::memory::shared;
use super::operands::{Decoded, Modifiers, Scope};
use crate::code::{AsyncCopy, CpAsync, Op, Place, Slot};

/// `cp.async`.
pub(super) fn cp(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    if mods.word(Word::Bulk) {
        return super::bulk::cp(cx, mods, ops);
    }
    if !mods.word(Word::Async) {
        return Err("the instruction is not modelled".to_owned());
    }
    if mods.word(Word::CommitGroup) {
        return Ok(Op::CpAsync(AsyncCopy::CommitGroup));
    }
    if mods.word(Word::WaitAll) {
        return Ok(Op::CpAsync(AsyncCopy::WaitAll));
    }
    if mods.word(Word::WaitGroup) {
        let [keep] = super::count(ops)?;
        return Ok(Op::CpAsync(AsyncCopy::WaitGroup { keep: Scope::immediate(keep)? }));
    }
    if mods.word(Word::Mbarrier) {
        mods.ignore(&[Word::Arrive]);
        let noinc = mods.word(Word::Noinc);
        let place = shared(mods)?;
        mods.ty()?;
        let [barrier] = super::count(ops)?;
        return Ok(Op::CpAsync(AsyncCopy::Arrive { barrier: cx.address(barrier, place)?, noinc }));
    }
    let cg = mods.word(Word::Cg);
    if !cg && !mods.word(Word::Ca) {
        return Err("`.ca` or `.cg` is missing".to_owned());
    }
    let (to_place, from_place) = (mods.space()?, mods.space()?);
    if (to_place, from_place) != (Some(Place::Shared), Some(Place::Global)) {
        return Err("only from global to shared memory".to_owned());
    }
    let hint = mods.word(Word::L2CacheHint);
    mods.ignore(&[Word::L2B64, Word::L2B128, Word::L2B256]);
    let mut ops = ops.to_vec();
    if hint {
        ops.pop();
    }
    let [to, from, bytes, rest @ ..] = ops.as_slice() else {
        return Err(format!("{} operands where 3 or 4 are needed", ops.len()));
    };
    let bytes = Scope::immediate(bytes)?;
    if !(matches!(bytes, 4 | 8) && !cg || bytes == 16) {
        return Err(format!("a copy of {bytes} bytes"));
    }
    let (mut source_bytes, mut ignore) = (None, None);
    match rest {
        [] => {}
        [operand @ Operand::Not(_)] => ignore = Some(cx.pred(operand)?),
        [operand @ Operand::Reg(reg)] if matches!(cx.reg(*reg), Slot::P(_)) => {
            ignore = Some(cx.pred(operand)?);
        }
        [operand] => source_bytes = Some(cx.w(operand)?),
        _ => return Err("too many operands".to_owned()),
    }
    let (to, from) = (cx.address(to, to_place)?, cx.address(from, from_place)?);
    let copy = CpAsync { to, from, bytes, source_bytes, ignore };
    Ok(Op::CpAsync(AsyncCopy::Issue(Box::new(copy))))
}
