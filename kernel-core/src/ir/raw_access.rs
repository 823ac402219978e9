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
            region.stmts.iter().find_map(|stmt| {
                if let StmtKind::Op { op, .. } = &stmt.kind {
                    return is(op).then_some(RawAccess::Address);
                }
                if let StmtKind::Ptx { code, .. } = &stmt.kind {
                    return code.touches_memory().then_some(RawAccess::Text(stmt.loc));
                }
                stmt.kind.all_regions().into_iter().find_map(|region| first(region, is))
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
