//! Copies from shared to tensor memory: `tcgen05::copy`, and `copy_async` between the two.

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{Builder, language::value::Val},
    ir::{Op, Tcgen05, Type, Value},
    loc::Loc,
    syntax::Expr,
};

/// Where a copy leads from and to.
const ONE_WAY: &str = "the tensor cores copy from shared to tensor memory, and no other way (PTX ISA, \"tcgen05.cp\")";

impl Builder<'_> {
    /// `tcgen05::copy(from, to)`
    pub(crate) fn tensor_copy(
        &mut self,
        [from, to]: [&Val; 2],
        args: &[Expr],
        loc: Loc,
    ) -> Option<()> {
        let from = self.copied_source([from, to], args)?;
        let headline = "the destination of a copy by the tensor cores lies in tensor memory";
        let to = self.tensor_memory_operand(to, (headline, ONE_WAY), "held", args[1].loc)?;
        let (source, destination) = (self.ty(from).shape().to_vec(), self.ty(to).shape().to_vec());
        let name = self.cells.name(self.num(from));
        let like_source = format!("tmem::<{name}>({source:?})");
        if source != destination {
            let headline = "a copy has the same extents on both sides";
            self.report(
                Diagnostic::new(Code::ShapeMismatch, loc, headline)
                    .compare("", format!("{destination:?}"), format!("{source:?}"))
                    .why("each element of the destination is written once")
                    .help(like_source),
            );
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
                .why("the tensor cores move bits as they lie, and convert nothing on the way")
                .help(like_source),
            );
            return None;
        }
        let places = [args[0].loc, args[1].loc, loc];
        self.operands.insert(loc, places);
        self.op(Op::Tcgen05(Tcgen05::Copy { guarded: false }), vec![from, to], None, loc);
        Some(())
    }

    /// The source of a copy, in shared memory. What lies elsewhere, threads write to tensor memory.
    fn copied_source(&mut self, [from, to]: [&Val; 2], args: &[Expr]) -> Option<Value> {
        let at = args[0].loc;
        if let Some((window, shared)) = self.shared_window(from) {
            return self.tcgen05_reads((window, &shared), "a copy to tensor memory", at);
        }
        let headline = "the source of a copy to tensor memory lies in shared memory";
        let diagnostic = Diagnostic::new(Code::Kind, at, headline)
            .compare("", "a `Shared<T>`", self.describe(from))
            .why(ONE_WAY);
        let read = match from {
            Val::View(_) => Some(".load()"),
            Val::Value(value) => match self.ty(*value) {
                Type::TensorMemory(_) => Some(".load()"),
                Type::Tile(..) => Some(""),
                Type::Scalar(_) | Type::Shared(_) | Type::Barrier(_) | Type::Error => None,
            },
            _ => None,
        };
        let in_tensor_memory = |val: &Val| match val {
            Val::Value(value) => matches!(self.ty(*value), Type::TensorMemory(_)),
            _ => false,
        };
        let texts = (args[0].operand_text(), args[1].operand_text());
        self.report(match (read, texts) {
            (Some(read), (Some(from), Some(into))) if in_tensor_memory(to) => {
                diagnostic.help(format!("{into}.store({from}{read});"))
            }
            _ => diagnostic,
        });
        None
    }
}
