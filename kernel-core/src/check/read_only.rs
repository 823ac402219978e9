//! Where addresses come from: no store uses the address of a read-only tensor.
//!
//! An address is followed through arithmetic, variables, branches, loops and inlined functions alike.

use crate::{
    diag::{Code, Diagnostic},
    elaborate::Written,
    ir::{By, Effects, Elem, Kernel, Memory, Op, ParamKind, SourceOp, StmtKind, Value, flow},
    loc::Loc,
};

/// Stores and atomics through the address of a tensor that is only read.
pub(super) fn check(kernel: &Kernel, written: &Written) -> Vec<Diagnostic> {
    let is_pointer = |&value: &Value| matches!(kernel.ty(value).elem(), Some(Elem::Ptr(_)));
    let sources = flow::spread(
        &kernel.body,
        &mut |stmt| {
            let StmtKind::Op {
                op: Op::Source(SourceOp::ParamPtr(param) | SourceOp::TensorPtr(param)),
                result: Some(result),
                ..
            } = &stmt.kind
            else {
                return None;
            };
            kernel.is_only_read(*param).then_some((vec![*result], *param))
        },
        &mut |stmt| stmt.kind.results().into_iter().filter(is_pointer).collect(),
    );
    let mut found = Vec::new();
    let mut write = |what: &str, at: Value, loc: Loc| {
        if let Some(&param) = sources.get(at) {
            found.push(refusal(kernel, written, (what, at), param, loc));
        }
    };
    kernel.body.each_stmt(&mut |stmt| match &stmt.kind {
        StmtKind::Op { op, args, result } => {
            let effects = kernel.effects(op, args, *result);
            if let Some((what, at)) = written_through(&effects) {
                write(what, at, stmt.loc);
            }
        }
        StmtKind::Ptx { code, args, .. } => {
            for (&arg, through) in args.iter().zip(code.written_through()) {
                if through {
                    write("a store of `ptx!` to", arg, stmt.loc);
                }
            }
        }
        StmtKind::If { .. }
        | StmtKind::For { .. }
        | StmtKind::Loop { .. }
        | StmtKind::Reduce { .. }
        | StmtKind::Scan { .. }
        | StmtKind::Specialize { .. } => {}
    });
    found
}

/// The address through which an operation writes, and what it is in words. Windows of tensors say themselves whether they can be written.
fn written_through(effects: &Effects) -> Option<(&'static str, Value)> {
    let reads = effects.reads().any(|access| matches!(access.memory, Memory::Address(_)));
    effects.writes().find_map(|access| {
        let Memory::Address(at) = access.memory else { return None };
        let what = match (access.by, reads) {
            (By::Threads, true) => "an atomic on",
            (By::Threads | By::CpAsync | By::TensorCores, _) => "a store to",
            (By::AsyncCopy, _) => "a bulk store to",
        };
        Some((what, at))
    })
}

fn refusal(
    kernel: &Kernel,
    written: &Written,
    (what, at): (&str, Value),
    param: u32,
    loc: Loc,
) -> Diagnostic {
    let param = &kernel.params[param as usize];
    let ParamKind::Tensor { dtype, rank, .. } = param.kind else {
        unreachable!("the sources are tensors")
    };
    let (name, dtype) = (&param.name, dtype.name());
    let headline = format!("{what} `{name}`, which is read-only");
    let mut diagnostic = Diagnostic::new(Code::ReadOnly, loc, headline)
        .compare(
            "",
            format!("an address in a `TensorMut<{dtype}, {rank}>`"),
            format!("one that comes from `{name}.ptr()`, of a `Tensor<{dtype}, {rank}>`"),
        )
        .place(param.loc, "declared here");
    if let Some((call, function)) = written.called.get(at) {
        diagnostic = diagnostic.place(*call, format!("called here as `{function}`"));
    }
    diagnostic
        .why("the launch borrows a `Tensor` with `&`: other kernels may read it at the same time")
        .help(format!("{name}: TensorMut<{dtype}, {rank}>"))
}
