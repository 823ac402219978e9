//! The words for what layout inference finds.

use kernel_layout::{Conversion, Dim, Layout};

use super::{Code, Diagnostic};
use crate::layouts::LayoutProblem;

impl LayoutProblem {
    /// The diagnostic of this problem.
    pub fn into_diagnostic(self) -> Diagnostic {
        match self {
            LayoutProblem::Form { at, form, shape, error } => Diagnostic::new(
                Code::LayoutForm,
                at,
                format!("`{form}` is not a layout of a tile of extents {shape:?}"),
            )
            .why(error.to_string()),
            LayoutProblem::NotRegisters { at, form } => Diagnostic::new(
                Code::LayoutForm,
                at,
                format!("`{form}` is a layout of shared memory"),
            )
            .compare("", "a layout of registers", "a layout of shared memory")
            .help("blocked([1, 4], [8, 4], [4, 1], [1, 0])"),
            LayoutProblem::NotShared { at, form } => {
                Diagnostic::new(Code::LayoutForm, at, format!("`{form}` is a layout of registers"))
                    .compare("", "a layout of shared memory", "a layout of registers")
                    .help("swizzle(128)")
            }
            LayoutProblem::Lanes { at, form, actual, required } => Diagnostic::new(
                Code::LayoutForm,
                at,
                format!("`{form}` does not use the lanes of a warp"),
            )
            .compare("lanes", required.to_string(), actual.to_string())
            .why("a warp has 32 lanes, and each holds a part of the tile"),
            LayoutProblem::Warps { at, form, actual, required } => Diagnostic::new(
                Code::LayoutForm,
                at,
                format!("`{form}` is for another number of warps"),
            )
            .compare("warps", required.to_string(), actual.to_string())
            .why("the kernel's attribute says how many warps a block has")
            .help(format!("#[kernel(.., warps = {actual})]")),
            LayoutProblem::Cluster { at, form, actual } => Diagnostic::new(
                Code::LayoutForm,
                at,
                format!("`{form}` spreads a tile over the blocks of a cluster"),
            )
            .compare("blocks", "1", actual.to_string()),
            LayoutProblem::Asserted { at, chosen_at, actual, required, form } => {
                let cost = match Conversion::between(&actual, &required) {
                    Conversion::Shuffle(_) => "shuffles between the lanes of each warp",
                    Conversion::Trivial
                    | Conversion::Registers(_)
                    | Conversion::SharedMemory
                    | Conversion::ClusterSharedMemory => "a trip through shared memory and a barrier",
                };
                let diagnostic = compare_bases(
                    Diagnostic::new(
                        Code::AssertedLayout,
                        at,
                        "the tile does not have the asserted layout",
                    ),
                    &required,
                    &actual,
                );
                let diagnostic = match chosen_at {
                    Some(chosen_at) => diagnostic
                        .place(chosen_at, "layout chosen here")
                        .why(format!("a conversion would cost {cost}, which the assertion forbids; pin the layout where it is chosen, or convert")),
                    None => diagnostic.why("constants, positions and what is read from shared memory are made in the layouts that their uses ask for, and no use asks for this one"),
                };
                diagnostic.help(format!(".to_layout({form})"))
            }
            LayoutProblem::DotOperand { at, index, pinned_at, actual, required, form } => {
                let side = if index == 0 { "left" } else { "right" };
                compare_bases(
                    Diagnostic::new(
                        Code::DotOperand,
                        at,
                        format!("the product cannot take its {side} operand in this layout"),
                    ),
                    &required,
                    &actual,
                )
                .place(pinned_at, "layout chosen here")
                .why(format!("mma.sync takes its operands from fixed lanes and registers, here `{form}`; without `.to_layout(..)` inference chooses it"))
            }
            LayoutProblem::DotAccumulator { at, pinned_at, actual, required, form } => {
                compare_bases(
                    Diagnostic::new(
                        Code::DotOperand,
                        at,
                        "the product cannot accumulate in this layout",
                    ),
                    &required,
                    &actual,
                )
                .place(pinned_at, "layout chosen here")
                .why(format!("mma.sync leaves its result in fixed lanes and registers, here `{form}`; without `.to_layout(..)` inference chooses it"))
            }
        }
    }
}

/// One row for each input dimension in which the bases differ.
fn compare_bases(mut diagnostic: Diagnostic, required: &Layout, actual: &Layout) -> Diagnostic {
    for (dim, name) in
        [(Dim::Register, "register bases"), (Dim::Lane, "lane bases"), (Dim::Warp, "warp bases")]
    {
        if required.bases(dim) != actual.bases(dim) {
            diagnostic =
                diagnostic.compare(name, bases_text(required, dim), bases_text(actual, dim));
        }
    }
    diagnostic
}

fn bases_text(layout: &Layout, dim: Dim) -> String {
    let all: Vec<String> = layout.bases(dim).iter().map(|basis| format!("{basis:?}")).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(" ") }
}
