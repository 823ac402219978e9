//! Copies by a map with a filter of a tap that the filter does not have, if that is known at compile time.

use crate::{
    diag::{Code, Diagnostic},
    elaborate::Written,
    ir::{CopyOp, Kernel, Op, Ranges},
};

/// The copies of a kernel that name such taps.
pub(super) fn check(kernel: &Kernel, written: &Written) -> Vec<Diagnostic> {
    let ranges = Ranges::of(kernel, &[]);
    let mut found = Vec::new();
    kernel.body.each_op(&mut |op, args, _, loc| {
        let Op::Copy(CopyOp::Tma(tma)) = op else { return };
        let param = &kernel.params[tma.param as usize];
        let coordinates = tma.operands(param.kind.rank() as usize, args).coordinates;
        // The first one is the place.
        for ((axis, filter), &tap) in (1..).zip(&param.map.filter).zip(coordinates.iter().skip(1)) {
            let Some(range) = ranges.at(kernel, tap, &[]) else { continue };
            let last = i128::from(filter.taps) - 1;
            if range.least > range.most || range.least <= last && range.most >= 0 {
                continue;
            }
            let actual = match range.least {
                _ if range.least == range.most => range.most.to_string(),
                least if least > last => format!("at least {least}"),
                _ => format!("at most {}", range.most),
            };
            let required = if last == 0 { "0".to_owned() } else { format!("0 to {last}") };
            found.push(
                Code::TensorMap
                    .at(
                        written.place(loc, tap),
                        "the filter of the tensor map does not have this tap",
                    )
                    .compare(format!("tap along axis {axis}"), required, actual)
                    .place(param.loc, "its filter is declared here"),
            );
        }
    });
    found
}
