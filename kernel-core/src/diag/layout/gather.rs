//! The messages for the layouts of the rows of gathers and scatters.

use kernel_layout::{Dim, Layout, basis_text};

use crate::diag::{Code, Diagnostic};
use crate::layouts::gather::{Idle, form};
use crate::loc::Loc;

/// Why four rows are in one thread, and the same in all lanes.
const FOUR: &str = "an instruction takes four adjacent rows from four registers, and one thread executes it for its warp (PTX ISA, \"cp.async.bulk.tensor\": .tile::gather4); without `.to_layout(..)` inference distributes the rows";

/// A layout that no instruction takes its rows from.
pub(super) fn refused(at: Loc, pinned_at: Loc, actual: &Layout, warps: u32) -> Diagnostic {
    let text = |bases: &[Vec<u32>]| {
        let texts: Vec<String> = bases.iter().map(basis_text).collect();
        if texts.is_empty() { "none".to_owned() } else { texts.join(" ") }
    };
    let mut diagnostic =
        Diagnostic::new(Code::RowNumbers, at, "no gather can take row numbers from this layout");
    let registers = &actual.bases(Dim::Register)[..actual.bases(Dim::Register).len().min(2)];
    if registers != [vec![1], vec![2]] {
        diagnostic = diagnostic.compare("first two register bases", "[1] [2]", text(registers));
    }
    let lanes = actual.bases(Dim::Lane);
    if lanes.iter().any(|basis| *basis != [0]) {
        diagnostic = diagnostic.compare("lane bases", "[0] [0] [0] [0] [0]", text(lanes));
    }
    diagnostic
        .place(pinned_at, "layout chosen here")
        .why(FOUR)
        .help(format!(".to_layout({})", form(warps).in_code()))
}

impl Idle {
    /// The warning of it.
    pub fn into_diagnostic(self) -> Diagnostic {
        let Idle { at, pinned_at, actual, possible, warps } = self;
        Diagnostic::new(Code::IdleWarps, at, "only some of the warps move these rows")
            .compare("instructions of a warp", possible, actual)
            .place(pinned_at, "layout chosen here")
            .why(format!(
                "of {warps} warps that hold the same rows, one moves them; distributed, each warp moves its own. An instruction moves four rows, one box of columns wide"
            ))
            .help(format!(".to_layout({})", form(warps).in_code()))
    }
}
