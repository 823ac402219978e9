//! Which assumptions of a variant its accesses have a use for.

use super::{Access, analyze};
use crate::ir::{By, Copied, CopyOp, Fact, Kernel, Memory, MemoryOp, Op, ParamKind, Type, Value};

#[cfg(test)]
mod tests;

/// How far the threads that access a tensor need it aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// An access moves so many elements at most.
    Elements(u32),
    /// Copy engines move it, which have rules of their own.
    Whole,
}

/// Of what a variant assumes of alignment, what its accesses to global memory use.
///
/// A tensor that is accessed element by element, a scale of each row say, may begin anywhere and have rows of any length: otherwise it
/// would keep all other tensors of the kernel from their fast accesses.
pub(crate) fn needed(kernel: &Kernel, assumed: &[Fact]) -> Vec<Fact> {
    let (accesses, needs) = looked_at(kernel, assumed);
    let fewer = |only: Option<u32>| -> Vec<Fact> {
        let kept = |fact: &Fact| {
            let param = subject(fact);
            if only.is_some_and(|only| only != param) {
                return Some(*fact);
            }
            weakened(kernel, fact, needs[param as usize])
        };
        assumed.iter().filter_map(kept).collect()
    };
    let all = fewer(None);
    // An extent may say where a slice of another tensor ends, and an address be computed from a tensor's.
    let suffices = |facts: &[Fact]| looked_at(kernel, facts).0 == accesses;
    if all == assumed || suffices(&all) {
        return all;
    }
    let params = (0u32..).zip(&kernel.params).map(|(param, _)| param);
    let without: Vec<u32> = params.filter(|&param| suffices(&fewer(Some(param)))).collect();
    let kept = |fact: &Fact| {
        let param = subject(fact);
        if without.contains(&param) {
            weakened(kernel, fact, needs[param as usize])
        } else {
            Some(*fact)
        }
    };
    let some: Vec<Fact> = assumed.iter().filter_map(kept).collect();
    // What two tensors say together may be what one of them has to say.
    if suffices(&some) { some } else { assumed.to_vec() }
}

/// How a kernel may access global memory under these facts, operation by operation, and what each parameter needs for it.
fn looked_at(kernel: &Kernel, facts: &[Fact]) -> (Vec<Access>, Vec<Need>) {
    let mut kernel = kernel.clone();
    kernel.facts.extend(facts);
    let kernel = &kernel;
    let known = analyze(kernel);
    let mut found = Vec::new();
    let mut needs = vec![Need::Elements(1); kernel.params.len()];
    kernel.body.each_op(&mut |op, args, result, _| {
        let access = known.unread_access(kernel, op, args).map(|access| {
            let extents = window(kernel, op, args, result);
            let extent = extents.get(access.axis as usize).copied().unwrap_or(1);
            Access { elements: access.elements.min(extent), ..access }
        });
        found.extend(access);
        for one in kernel.effects(op, args, result).accesses {
            let Memory::Tensor(param) = one.memory else { continue };
            let need = &mut needs[param as usize];
            *need = match (*need, access, one.by) {
                (Need::Elements(most), Some(access), By::Threads | By::CpAsync) => {
                    Need::Elements(most.max(access.elements))
                }
                _ => Need::Whole,
            };
        }
    });
    (found, needs)
}

/// The extents of what an operation accesses in global memory; none for one element.
fn window<'k>(kernel: &'k Kernel, op: &'k Op, args: &[Value], result: Option<Value>) -> &'k [u32] {
    if let Op::Memory(MemoryOp::PrefetchTensor { extents, .. })
    | Op::Copy(CopyOp::Async(Copied::Tile { extents, .. }, _)) = op
    {
        return extents.shape();
    }
    // The addresses, what is written, or what is read.
    let tiles = [args.first(), args.last(), result.as_ref()];
    let tile = |value: &&Value| matches!(kernel.ty(**value), Type::Tile(..));
    tiles.into_iter().flatten().find(tile).map_or(&[], |value| kernel.ty(*value).shape())
}

/// The parameter that a fact is about.
fn subject(fact: &Fact) -> u32 {
    match *fact {
        Fact::PointerAligned { param, .. }
        | Fact::StrideEquals { param, .. }
        | Fact::StrideMultiple { param, .. }
        | Fact::DimMultiple { param, .. }
        | Fact::ScalarMultiple { param, .. } => param,
    }
}

/// As much of a fact as a tensor needs.
fn weakened(kernel: &Kernel, fact: &Fact, need: Need) -> Option<Fact> {
    let ParamKind::Tensor { dtype, .. } = kernel.params[subject(fact) as usize].kind else {
        return Some(*fact);
    };
    let Need::Elements(most) = need else { return Some(*fact) };
    let step = 1 << dtype.bytes().trailing_zeros();
    let elements = |of: i64| Some(of.min(most.into())).filter(|&of| of > 1);
    match *fact {
        Fact::PointerAligned { param, bytes } => (most > 1)
            .then_some(Fact::PointerAligned { param, bytes: bytes.min(most.saturating_mul(step)) }),
        Fact::StrideMultiple { param, axis, of } => {
            elements(of).map(|of| Fact::StrideMultiple { param, axis, of })
        }
        Fact::DimMultiple { param, axis, of } => {
            elements(of).map(|of| Fact::DimMultiple { param, axis, of })
        }
        Fact::StrideEquals { .. } | Fact::ScalarMultiple { .. } => Some(*fact),
    }
}
