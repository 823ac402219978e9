//! Grids that start before those before them have ended: what they do before they wait.
//!
//! A grid that calls `grid_dependency_wait()` is launched early (PTX ISA, "griddepcontrol"). Until a thread has waited, the grids before may
//! still write what it reads, or read what it writes. Accepted: `grid_dependency_wait()`, then loads. Refused: a load, a store or a copy of
//! a tensor on a path without the wait; a path to the end without it, because the next grid waits for this one alone.

use la_arena::ArenaMap;

use crate::{
    diag::{Code, Diagnostic, Lacking, Missing, Spot},
    ir::{
        Does, Effects, Elem, GridOp, Kernel, Memory, Op, ParamKind, SourceOp, Stmt, StmtKind,
        SyncOp, Terminator, Value, Wait,
        flow::{self, End, Flow, Number},
    },
    loc::Loc,
};

const WAIT: &str = "grid_dependency_wait()";
const WAITS: &str = "the kernel waits here, so it is launched before they have ended";

/// What is done to tensors before the wait, and the ends that are reached without it.
pub(super) fn check(kernel: &Kernel) -> Vec<Diagnostic> {
    let mut waits = Vec::new();
    kernel.body.each_op(&mut |op, _, _, loc| {
        if *op == Op::Sync(SyncOp::Grid(GridOp::Wait)) {
            waits.push(loc);
        }
    });
    let Some(&wait) = waits.first() else { return Vec::new() };
    // The caller answers for pointers, but not for the addresses of tensors.
    let raw = kernel.params.iter().any(|param| matches!(param.kind, ParamKind::Pointer(_)));
    let is_pointer = |&value: &Value| matches!(kernel.ty(value).elem(), Some(Elem::Ptr(_)));
    let tensors = flow::spread(
        &kernel.body,
        &mut |stmt| match &stmt.kind {
            StmtKind::Op {
                op: Op::Source(SourceOp::TensorPtr(param)),
                result: Some(result),
                ..
            } => Some((vec![*result], *param)),
            StmtKind::Op { .. }
            | StmtKind::If { .. }
            | StmtKind::For { .. }
            | StmtKind::Loop { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Ptx { .. }
            | StmtKind::Specialize { .. } => None,
        },
        &mut |stmt| stmt.kind.results().into_iter().filter(is_pointer).collect(),
    );
    let mut early = Early { kernel, raw, tensors, wait, found: Vec::new(), open: None };
    let end = match flow::solve(&mut early, &kernel.body, &false) {
        Ok(end) => end,
        Err(unsettled) => return vec![super::unknown(unsettled)],
    };
    let Early { mut found, open, .. } = early;
    let at = open.or_else(|| (end == Some(false)).then_some(wait));
    if let (Some(at), true) = (at, found.is_empty()) {
        let headline = "the kernel can end without a wait for the grids before it";
        let mut diagnostic = Diagnostic::new(Code::EarlyGrid, at, headline);
        if at != wait {
            diagnostic = diagnostic.place(wait, WAITS);
        }
        found.push(
            diagnostic
            .compare("", format!("`{WAIT}` on every path"), "a path without it")
            .why("the next grid on the stream waits until this one has ended, and needs the results of those before as well"),
        );
    }
    found
}

struct Early<'k> {
    kernel: &'k Kernel,
    raw: bool,
    /// The tensors that addresses come from.
    tensors: ArenaMap<Value, u32>,
    /// The first wait in the text.
    wait: Loc,
    found: Vec<Diagnostic>,
    /// A `return` without the wait.
    open: Option<Loc>,
}

impl Early<'_> {
    fn effects(&self, stmt: &Stmt) -> Effects {
        match &stmt.kind {
            StmtKind::Op { op, args, result } => self.kernel.effects(op, args, *result),
            StmtKind::If { .. }
            | StmtKind::For { .. }
            | StmtKind::Loop { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Ptx { .. }
            | StmtKind::Specialize { .. } => Effects::default(),
        }
    }
}

impl Flow for Early<'_> {
    /// Whether every path to the place has waited.
    type State = bool;

    fn cross(&mut self, stmt: &Stmt, waited: &mut bool) {
        *waited |= self.effects(stmt).waits.contains(&Wait::Grids);
    }

    fn join(&mut self, into: &mut bool, other: &bool) {
        *into &= other;
    }

    /// A grid has not ended while some of its threads wait.
    fn behind_parts(&mut self, _: Loc, _: &bool, left: Vec<Option<bool>>) -> Option<bool> {
        left.into_iter().flatten().reduce(|one, other| one || other)
    }

    fn visit(&mut self, stmt: &Stmt, waited: &bool, _: Number) {
        if *waited || !self.found.is_empty() {
            return;
        }
        let effects = self.effects(stmt);
        let found = effects.accesses.iter().find_map(|access| match access.memory {
            Memory::Tensor(param) => Some((access, Some(param))),
            Memory::Address(at) => {
                let param = self.tensors.get(at).copied();
                (param.is_some() || !self.raw).then_some((access, param))
            }
            Memory::Shared(_) | Memory::TensorMemory(_) | Memory::Registers(_) => None,
        });
        let Some((access, param)) = found else { return };
        let name = param.map_or("global memory".to_owned(), |param| {
            format!("`{}`", self.kernel.params[param as usize].name)
        });
        let (does, why) = match access.does {
            Does::Reads => ("read", "may not have written it yet"),
            Does::Writes => ("written", "may still read it"),
        };
        self.found.push(
            Diagnostic::new(
                Code::EarlyGrid,
                stmt.loc,
                format!("{name} is {does} before the wait for the grids before this one"),
            )
            .compare("", format!("`{WAIT}` on every path to it"), "a path without it")
            .place(self.wait, WAITS)
            .why(format!(
                "a grid before this one on the stream {why} (PTX ISA, \"griddepcontrol\")"
            ))
            .lacks(Some(Missing {
                what: Lacking::Text(format!("{WAIT};")),
                after: stmt.loc,
                before: stmt.loc,
                spot: Spot::Before,
            })),
        );
    }

    fn visit_end(&mut self, end: End<'_>, waited: &bool) {
        let part = end.around.is_some_and(|stmt| matches!(stmt.kind, StmtKind::Specialize { .. }));
        if *end.end == Terminator::Return && end.around.is_some() && !part && !waited {
            self.open = self.open.or(end.around.map(|stmt| stmt.loc));
        }
    }
}
