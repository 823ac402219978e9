//! What a kernel says while it runs: prints, assertions that fail, and in which phase a warp is.

use super::{Elem, Kernel, Op, Region, Stmt, StmtKind, Type, Value};
use crate::loc::Loc;

/// Says something, or checks a condition first; its number is that of the [`Report`] among those of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportOp {
    /// Says its operands: scalars once, by one thread; tiles of one shape with the scalars once an element.
    Print(u32),
    /// Says its operands but the first, and stops the kernel, unless the first holds; all are scalars.
    Assert(u32),
    /// Says that the warp is in another phase from here on. It has no operands, and orders nothing: passes that look for what a loop or a
    /// kernel does look past it, so that a kernel with stamps has the schedule of the same one without them.
    Stamp(u32),
}

impl ReportOp {
    /// The number of the report.
    pub const fn number(self) -> u32 {
        match self {
            ReportOp::Print(number) | ReportOp::Assert(number) | ReportOp::Stamp(number) => number,
        }
    }

    /// The same with another number.
    #[must_use]
    pub const fn with_number(self, number: u32) -> Self {
        match self {
            ReportOp::Print(_) => ReportOp::Print(number),
            ReportOp::Assert(_) => ReportOp::Assert(number),
            ReportOp::Stamp(_) => ReportOp::Stamp(number),
        }
    }

    /// The operands that are said.
    pub fn said(self, args: &[Value]) -> &[Value] {
        match self {
            ReportOp::Print(_) | ReportOp::Stamp(_) => args,
            ReportOp::Assert(_) => &args[1..],
        }
    }
}

/// What the host makes of the values of a [`ReportOp`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What it is.
    pub kind: ReportKind,
    /// A format string of Rust, in which each place names its value by number; for `assert_eq!` and `assert_ne!` the values
    /// after the first two.
    pub format: String,
    /// The place of the macro.
    pub loc: Loc,
}

/// What a report is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportKind {
    /// `print!` or `println!`
    Print,
    /// `assert!`, with its condition as it is written.
    Assert(String),
    /// `assert_eq!`: the two values come first.
    AssertEq,
    /// `assert_ne!`: the two values come first.
    AssertNe,
    /// `stamp!`: the text is the name of the phase.
    Stamp,
}

impl Stmt {
    /// Whether it is a stamp.
    pub fn is_stamp(&self) -> bool {
        matches!(&self.kind, StmtKind::Op { op: Op::Report(ReportOp::Stamp(_)), .. })
    }
}

impl Kernel {
    /// Whether what it says are stamps, and nothing else.
    pub fn is_stamped(&self) -> bool {
        let mut kinds = self.reports.iter().map(|report| &report.kind);
        kinds.any(|kind| *kind == ReportKind::Stamp)
    }

    /// The values of each report, in the order of the numbers: their types, and the shape if some are tiles.
    pub fn said(&self) -> Vec<(Vec<Elem>, Vec<u32>)> {
        let mut all = vec![(Vec::new(), Vec::new()); self.reports.len()];
        self.body.each_op(&mut |op, args, _, _| {
            let Op::Report(report) = op else { return };
            let types = || report.said(args).iter().map(|&arg| self.ty(arg));
            let shape = types().find(|ty| matches!(ty, Type::Tile(..)));
            let elems = types().filter_map(Type::elem).collect();
            all[report.number() as usize] =
                (elems, shape.map_or(Vec::new(), |ty| ty.shape().to_vec()));
        });
        all
    }
}

/// Numbers the reports that are left in a region in the order of the text, and returns which those were.
pub(crate) fn renumber(region: &mut Region, kept: &mut Vec<u32>) {
    for stmt in &mut region.stmts {
        if let StmtKind::Op { op: Op::Report(report), .. } = &mut stmt.kind {
            let number = u32::try_from(kept.len()).expect("a kernel has few reports");
            kept.push(report.number());
            *report = report.with_number(number);
        }
        stmt.kind.regions_mut().into_iter().for_each(|inner| renumber(inner, kept));
    }
}
