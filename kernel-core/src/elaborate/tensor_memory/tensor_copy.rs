//! Copies from shared to tensor memory: `tcgen05::copy`, and `copy_async` between the two.

use crate::{
    diag::Code,
    elaborate::{Builder, language::value::Val, signatures::Given},
    ir::{Tcgen05, Type, Value},
    syntax::Expr,
};

/// Where a copy leads from and to.
const ONE_WAY: &str =
    "the tensor cores copy only from shared to tensor memory (PTX ISA, \"tcgen05.cp\")";

impl Builder<'_> {
    /// `tcgen05::copy(from, to)`
    pub(crate) fn tensor_copy(&mut self, given: &Given<'_>) -> Option<()> {
        let (to, loc) = (given.val(1), given.loc);
        let from = self.copied_source([given.val(0), to], given.args)?;
        let headline = "the destination of `tcgen05::copy` has to be in tensor memory";
        let to = self.tensor_memory_operand(to, (headline, ONE_WAY), "held", given.at(1))?;
        let (source, destination) = (self.ty(from).shape().to_vec(), self.ty(to).shape().to_vec());
        let name = self.cells.name(self.num(from));
        let like_source = format!("tmem::<{name}>({source:?})");
        if source != destination {
            return self.refuse(
                Code::ShapeMismatch
                    .at(loc, "a copy has the same extents on both sides")
                    .compare("", format!("{destination:?}"), format!("{source:?}"))
                    .why("each element of the destination is written once")
                    .help(like_source),
            );
        }
        if let Err((source, destination)) = self.cells.unify(self.num(from), self.num(to)) {
            return self.refuse(
                Code::DtypeMismatch
                    .at(loc, "a copy has the same element type on both sides")
                    .compare("", destination, source)
                    .why("the tensor cores copy bits unchanged, without conversions")
                    .help(like_source),
            );
        }
        self.operands.insert(loc, [given.at(0), given.at(1), loc]);
        self.does(Tcgen05::Copy { guarded: false }, vec![from, to], given)
    }

    /// The source of a copy, in shared memory. What is elsewhere, threads write to tensor memory.
    fn copied_source(&mut self, [from, to]: [&Val; 2], args: &[Expr]) -> Option<Value> {
        let at = args[0].loc;
        if let Some((window, shared)) = self.shared_window(from) {
            return self.tcgen05_reads((window, &shared), "a copy to tensor memory", at);
        }
        let diagnostic = Code::Kind
            .at(at, "the source of a copy to tensor memory has to be in shared memory")
            .compare("", "a `Shared<T>`", self.describe(from))
            .why(ONE_WAY);
        let read = if matches!(from, Val::View(_)) || self.in_tensor_memory(from) {
            Some(".load()")
        } else {
            matches!(self.ty_of(from), Some(Type::Tile(..))).then_some("")
        };
        let texts = (args[0].operand_text(), args[1].operand_text());
        self.refuse(match (read, texts) {
            (Some(read), (Some(from), Some(into))) if self.in_tensor_memory(to) => {
                diagnostic.help(format!("{into}.store({from}{read});"))
            }
            _ => diagnostic,
        })
    }
}
