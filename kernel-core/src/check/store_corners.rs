//! TMA stores that begin before their tensor, if that is known at compile time.
//!
//! A load may begin there, and fills with zeros, or NaN, what is outside. A store or a reduction stops the kernel, and so does a
//! scatter, whose rows and column have a check of their own. The evaluator and the emulator find what is known only at run time.

use crate::{
    diag::{Code, Diagnostic},
    elaborate::Written,
    ir::{CopyOp, Fork, Kernel, Op, ParamKind, Ranges, Region, StmtKind, TmaKind, Value},
    loc::Loc,
};

/// The stores and reductions of a kernel that begin before their tensor.
pub(super) fn check(kernel: &Kernel, written: &Written) -> Vec<Diagnostic> {
    let mut stores = Stores { kernel, written, ranges: Ranges::of(kernel, &[]), found: Vec::new() };
    stores.region(&kernel.body, &mut Vec::new());
    stores.found
}

struct Stores<'k> {
    kernel: &'k Kernel,
    written: &'k Written,
    ranges: Ranges<'k>,
    found: Vec<Diagnostic>,
}

impl Stores<'_> {
    /// Looks at what a region may run, which stands in these branches.
    fn region(&mut self, region: &Region, forks: &mut Vec<Fork>) {
        for stmt in &region.stmts {
            if let StmtKind::Op { op, args, .. } = &stmt.kind {
                self.op((op, args), forks, stmt.loc);
            } else if let StmtKind::If { condition, then, otherwise, .. } = &stmt.kind {
                for (side, holds) in [(then, true), (otherwise, false)] {
                    forks.push((*condition, holds));
                    self.region(side, forks);
                    forks.pop();
                }
            } else if let StmtKind::For { from, to, step, .. } = &stmt.kind
                && self.never_runs([*from, *to, *step], forks)
            {
                // Nothing in it begins anywhere.
            } else {
                stmt.kind.regions().into_iter().for_each(|inner| self.region(inner, forks));
            }
        }
    }

    /// Whether a loop has no iteration: that is known of its bounds.
    fn never_runs(&self, bounds: [Value; 3], forks: &[Fork]) -> bool {
        let [from, to, step] = bounds.map(|bound| self.ranges.at(self.kernel, bound, forks));
        let (Some(from), Some(to), Some(step)) = (from, to, step) else { return false };
        step.least > 0 && from.least >= to.most || step.most < 0 && from.most <= to.least
    }

    fn op(&mut self, (op, args): (&Op, &[Value]), forks: &[Fork], loc: Loc) {
        let Op::Copy(CopyOp::Tma(tma)) = op else { return };
        let (ParamKind::Tensor { rank, .. }, TmaKind::Store | TmaKind::Reduce(_)) =
            (&self.kernel.params[tma.param as usize].kind, tma.kind)
        else {
            return;
        };
        let coordinates = tma.operands(*rank as usize, args).coordinates;
        let before = coordinates.into_iter().enumerate().find_map(|(axis, value)| {
            let range = self.ranges.at(self.kernel, value, forks)?;
            (range.least <= range.most && range.most < 0).then_some((axis, value, range))
        });
        let Some((axis, value, range)) = before else { return };
        let actual = if range.least == range.most {
            range.most.to_string()
        } else {
            format!("at most {}", range.most)
        };
        let headline = "a TMA store begins before its tensor";
        self.found.push(
            Diagnostic::new(Code::TensorMap, self.written.place(loc, value), headline)
                .compare(format!("coordinate of axis {axis}"), "at least 0", actual)
                .why("such a store or reduction stops the GPU with an illegal instruction (seen on an H200); loads may begin there"),
        );
    }
}
