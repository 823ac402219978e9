//! Asynchronous copies.

use kernel_ptx::{Operand, Word};

use super::memory::shared;
use super::operands::{Decoded, Modifiers, Scope};
use crate::code::{AsyncCopy, CpAsync, Op, Place, Slot};

/// `cp.async`.
pub(super) fn cp(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    if m.word(Word::Bulk) {
        return super::bulk::cp(s, m, ops);
    }
    if !m.word(Word::Async) {
        return Err("the instruction is not modelled".to_owned());
    }
    if m.word(Word::CommitGroup) {
        return Ok(Op::CpAsync(AsyncCopy::CommitGroup));
    }
    if m.word(Word::WaitAll) {
        return Ok(Op::CpAsync(AsyncCopy::WaitAll));
    }
    if m.word(Word::WaitGroup) {
        let [keep] = super::count(ops)?;
        return Ok(Op::CpAsync(AsyncCopy::WaitGroup { keep: Scope::immediate(keep)? }));
    }
    if m.word(Word::Mbarrier) {
        m.ignore(&[Word::Arrive]);
        let noinc = m.word(Word::Noinc);
        let place = shared(m)?;
        m.ty()?;
        let [barrier] = super::count(ops)?;
        return Ok(Op::CpAsync(AsyncCopy::Arrive { barrier: s.address(barrier, place)?, noinc }));
    }
    let cg = m.word(Word::Cg);
    if !cg && !m.word(Word::Ca) {
        return Err("`.ca` or `.cg` is missing".to_owned());
    }
    let (to_place, from_place) = (m.space()?, m.space()?);
    if (to_place, from_place) != (Some(Place::Shared), Some(Place::Global)) {
        return Err("only from global to shared memory".to_owned());
    }
    let hint = m.word(Word::L2CacheHint);
    m.ignore(&[Word::L2B64, Word::L2B128, Word::L2B256]);
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
        [operand @ Operand::Not(_)] => ignore = Some(s.pred(operand)?),
        [operand @ Operand::Reg(reg)] if matches!(s.reg(*reg), Slot::P(_)) => {
            ignore = Some(s.pred(operand)?);
        }
        [operand] => source_bytes = Some(s.w(operand)?),
        _ => return Err("too many operands".to_owned()),
    }
    let (to, from) = (s.address(to, to_place)?, s.address(from, from_place)?);
    let copy = CpAsync { to, from, bytes, source_bytes, ignore };
    Ok(Op::CpAsync(AsyncCopy::Issue(Box::new(copy))))
}
