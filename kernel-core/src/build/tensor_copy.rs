//! Copies from shared to tensor memory: `tcgen05::copy`, and `copy_async` between the two.

use super::{Builder, value::Val};
use crate::{
    diag::{Code, Diagnostic},
    ir::{Op, Tcgen05},
    loc::Loc,
    syntax::Expr,
};

impl Builder<'_> {
    /// `tcgen05::copy(from, to)`
    pub(super) fn tensor_copy(
        &mut self,
        [from, to]: [&Val; 2],
        args: &[Expr],
        loc: Loc,
    ) -> Option<()> {
        let from =
            self.tcgen05_shared(from, "the source of a copy to tensor memory", args[0].loc)?;
        let to = self.tensor_memory_window(to, "a copy by the tensor cores", args[1].loc)?;
        let (source, destination) = (self.ty(from).shape().to_vec(), self.ty(to).shape().to_vec());
        if source != destination {
            let headline = "a copy has the same extents on both sides";
            self.report(Diagnostic::new(Code::ShapeMismatch, loc, headline).compare(
                "",
                format!("{destination:?}"),
                format!("{source:?}"),
            ));
            return None;
        }
        if let Err((source, destination)) = self.cells.unify(self.num(from), self.num(to)) {
            self.report(
                Diagnostic::new(
                    Code::DtypeMismatch,
                    loc,
                    "a copy has the same element type on both sides",
                )
                .compare("", destination, source)
                .why("the tensor cores move bits as they lie, and convert nothing on the way"),
            );
            return None;
        }
        let places = [args[0].loc, args[1].loc, loc];
        self.operands.insert(loc, places);
        self.op(Op::Tcgen05(Tcgen05::Copy { guarded: false }), vec![from, to], None, loc);
        Some(())
    }
}
