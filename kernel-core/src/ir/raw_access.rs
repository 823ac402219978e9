//! Accesses to memory without bounds.

use super::{Elem, Kernel, Op, ParamKind, Region, SourceOp, StmtKind, Value};
use crate::loc::Loc;

/// An access to memory without bounds: the caller who launches the kernel vouches for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawAccess {
    /// By the address of a tensor.
    Address,
    /// By a `ptx!`, at its place.
    Text(Loc),
    /// By a pointer that a `ptx!` gives, at its place: the text may have made it of any number.
    TextPointer(Loc),
}

impl Kernel {
    /// What in the body reads and writes memory without bounds, apart from what it does with pointers that are arguments.
    pub fn raw_access(&self) -> Option<RawAccess> {
        self.first_raw_access(&self.body)
    }

    fn first_raw_access(&self, region: &Region) -> Option<RawAccess> {
        region.stmts.iter().find_map(|stmt| {
            if let StmtKind::Op { op, .. } = &stmt.kind {
                return self.takes_address(op).then_some(RawAccess::Address);
            }
            if let StmtKind::Ptx { code, results, .. } = &stmt.kind {
                if code.touches_memory() {
                    return Some(RawAccess::Text(stmt.loc));
                }
                let is_pointer =
                    |result: &Value| matches!(self.ty(*result).elem(), Some(Elem::Ptr(_)));
                return results.iter().any(is_pointer).then_some(RawAccess::TextPointer(stmt.loc));
            }
            let mut inner = stmt.kind.all_regions().into_iter();
            inner.find_map(|region| self.first_raw_access(region))
        })
    }

    /// [`SourceOp::TensorPtr`] is not among them: only windows of listed rows have it, which mask what is outside the tensor.
    fn takes_address(&self, op: &Op) -> bool {
        let Op::Source(SourceOp::ParamPtr(param)) = op else { return false };
        matches!(self.params[*param as usize].kind, ParamKind::Tensor { .. })
    }
}
