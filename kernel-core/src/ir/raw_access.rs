//! Accesses to memory without bounds.

use super::{Kernel, Op, ParamKind, Region, SourceOp, StmtKind};
use crate::loc::Loc;

/// An access to memory without bounds: the caller who launches the kernel vouches for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawAccess {
    /// By the address of a tensor.
    Address,
    /// By a `ptx!`, at its place.
    Text(Loc),
}

impl Kernel {
    /// What in the body reads and writes memory without bounds, apart from what it does with pointers that are arguments.
    pub fn raw_access(&self) -> Option<RawAccess> {
        fn first(region: &Region, is: &dyn Fn(&Op) -> bool) -> Option<RawAccess> {
            region.stmts.iter().find_map(|stmt| match &stmt.kind {
                StmtKind::Op { op, .. } => is(op).then_some(RawAccess::Address),
                StmtKind::If { then, otherwise, .. } => {
                    first(then, is).or_else(|| first(otherwise, is))
                }
                StmtKind::For { .. } | StmtKind::Loop { .. } | StmtKind::Specialize { .. } => {
                    stmt.kind.regions().into_iter().find_map(|region| first(region, is))
                }
                StmtKind::Reduce { combine, .. } | StmtKind::Scan { combine, .. } => {
                    first(combine, is)
                }
                StmtKind::Ptx { code, .. } => {
                    code.touches_memory().then_some(RawAccess::Text(stmt.loc))
                }
            })
        }
        first(&self.body, &|op| {
            if let Op::Source(SourceOp::ParamPtr(param)) = op {
                return matches!(self.params[*param as usize].kind, ParamKind::Tensor { .. });
            }
            false
        })
    }
}
