//! Stores by tensor map that begin before their tensor, where that is known when compiling.
//!
//! A load may begin there, and fills with zeros, or NaN, what lies outside. A store or a reduction stops the kernel, and so does a
//! scatter, whose rows and column have a check of their own. What is known only when the kernel runs, the evaluator and the emulator
//! find.

use std::collections::BTreeMap;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::written_ptx::per_thread::Uses,
    ir::{Const, Kernel, Op, ParamKind, Region, StmtKind, TmaKind},
};

/// The constants of a kernel, by the values that stand for them.
type Constants = BTreeMap<la_arena::RawIdx, i128>;

/// The stores and reductions of a kernel that begin before their tensor.
pub(crate) fn check(kernel: &Kernel, uses: &Uses) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    region(kernel, uses, &kernel.body, &mut Constants::new(), &mut found);
    found
}

fn region(
    kernel: &Kernel,
    uses: &Uses,
    body: &Region,
    constants: &mut Constants,
    found: &mut Vec<Diagnostic>,
) {
    for stmt in &body.stmts {
        match &stmt.kind {
            StmtKind::Op { op: Op::Const(Const::Int(number)), result: Some(result), .. } => {
                constants.insert(result.into_raw(), *number);
            }
            StmtKind::Op { op: Op::Tma(tma), args, .. } => {
                let (ParamKind::Tensor { rank, .. }, TmaKind::Store | TmaKind::Reduce(_)) =
                    (&kernel.params[tma.param as usize].kind, tma.kind)
                else {
                    continue;
                };
                let coordinates = tma.operands(*rank as usize, args).coordinates;
                let before = coordinates.into_iter().enumerate().find_map(|(axis, value)| {
                    let at = *constants.get(&value.into_raw())?;
                    (at < 0).then_some((axis, value, at))
                });
                let Some((axis, value, at)) = before else { continue };
                let headline = "a store by tensor map begins before its tensor";
                found.push(
                    Diagnostic::new(Code::TensorMap, uses.place(stmt.loc, value), headline)
                        .compare(format!("coordinate of axis {axis}"), "0 or more", at.to_string())
                        .why("a GPU stops at such a store, or reduction, with an illegal instruction (seen on an H200); loads may begin there"),
                );
            }
            kind => {
                for inner in kind.regions() {
                    region(kernel, uses, inner, constants, found);
                }
            }
        }
    }
}
