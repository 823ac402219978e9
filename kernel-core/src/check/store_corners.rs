//! TMA stores that begin before their tensor, if that is known at compile time.
//!
//! A load may begin there, and fills with zeros, or NaN, what is outside. A store or a reduction stops the kernel, and so does a
//! scatter, whose rows and column have a check of their own. The evaluator and the emulator find what is known only at run time.

use crate::{
    diag::{Code, Diagnostic},
    elaborate::Written,
    ir::{CopyOp, Kernel, Op, ParamKind, Ranges, TmaKind},
};

/// The stores and reductions of a kernel that begin before their tensor.
pub(super) fn check(kernel: &Kernel, written: &Written) -> Vec<Diagnostic> {
    let ranges = Ranges::of(kernel, &[]);
    let mut found = Vec::new();
    kernel.body.each_op(&mut |op, args, _, loc| {
        let Op::Copy(CopyOp::Tma(tma)) = op else { return };
        let (ParamKind::Tensor { rank, .. }, TmaKind::Store | TmaKind::Reduce(_)) =
            (&kernel.params[tma.param as usize].kind, tma.kind)
        else {
            return;
        };
        let coordinates = tma.operands(*rank as usize, args).coordinates;
        let before = coordinates.into_iter().enumerate().find_map(|(axis, value)| {
            let range = ranges.at(kernel, value, &[])?;
            (range.least <= range.most && range.most < 0).then_some((axis, value, range))
        });
        let Some((axis, value, range)) = before else { return };
        let actual = if range.least == range.most {
            range.most.to_string()
        } else {
            format!("at most {}", range.most)
        };
        let headline = "a TMA store begins before its tensor";
        found.push(
            Diagnostic::new(Code::TensorMap, written.place(loc, value), headline)
                .compare(format!("coordinate of axis {axis}"), "at least 0", actual)
                .why("such a store or reduction stops the GPU with an illegal instruction (seen on an H200); loads may begin there"),
        );
    });
    found
}
