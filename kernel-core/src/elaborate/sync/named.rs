//! Named barriers: `named_barrier(warps)`, at which warps of several partitions meet.

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{Builder, language::value::Val},
    ir::{Const, Named, NamedData, NamedOp, Op},
    loc::Loc,
    syntax::Segment,
};

/// Warps of a block (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
const MOST_WARPS: i128 = 32;

impl Builder<'_> {
    /// `named_barrier(warps)`
    pub(crate) fn named_barrier(&mut self, warps: &Val, at: Loc, loc: Loc) -> Val {
        if self.conditional > 0 {
            return self.report(
                Diagnostic::new(
                    Code::SharedInLoop,
                    loc,
                    "a named barrier is made inside a loop or branch",
                )
                .why("a block has 16 of them, and which one this is is settled when compiling")
                .help(format!(
                    "let meeting = named_barrier({}); // before the loop",
                    match warps {
                        Val::Const(Const::Int(warps), _) => *warps,
                        _ => i128::from(self.warps),
                    }
                )),
            );
        }
        // Who comes is the body's to say: most often all of its warps.
        let what = "the warps of a named barrier";
        let Some(count) = self.const_int_or(warps, what, at, "num_warps()") else {
            return Val::Error;
        };
        match u32::try_from(count) {
            Ok(warps) if (1..=MOST_WARPS).contains(&count) => {
                Val::Named(self.named.alloc(NamedData { warps, loc }))
            }
            _ => self.report(
                Diagnostic::new(
                    Code::NamedBarrier,
                    at,
                    format!("no phase of a named barrier ends after {count} warps"),
                )
                .compare("warps", format!("1 to {MOST_WARPS}"), count.to_string())
                .why("a phase ends when so many warps of the block have come, those that wait and those that only arrive"),
            ),
        }
    }

    /// A method of a named barrier.
    pub(crate) fn named_method(
        &mut self,
        named: Named,
        name: &Segment,
        vals: &[Val],
        loc: Loc,
    ) -> Val {
        let op = match name.name.as_str() {
            "sync" => NamedOp::Sync,
            "arrive" => NamedOp::Arrive,
            _ => return self.no_method(&Val::Named(named), name, vals, &["sync", "arrive"]),
        };
        if !vals.is_empty() {
            let form = format!(".{}()", name.name);
            return self.count(name, 0, vals.len(), Some(form), loc);
        }
        self.op(Op::Named(op, named), Vec::new(), None, loc);
        Val::Unit
    }
}
