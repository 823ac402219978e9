//! Left factors in tensor memory: an instruction reads their rows where the rows of its sums are (PTX ISA, "tcgen05.mma: Data path
//! layout").

use kernel_layout::Form;

use crate::{
    diag::{Code, Diagnostic},
    ir::{Kernel, TensorMemoryType, Type, Value},
    layouts::tensor_memory::{self, PRODUCT_COLUMNS},
    loc::Loc,
};

/// The rows of a block that leaves every other 16 rows to the next one.
const FEW_ROWS: u32 = 64;
/// Why both lie in the same rows.
const SAME_ROWS: &str = "an instruction reads the rows of its left factor where those of its sums are, and a second block of 64 rows lies in the rows between those of the first (PTX ISA, \"tcgen05.mma: Data path layout\")";

/// What keeps a product from finding its left factor in the rows of its sums; `args` are its operands, `places` those in the source.
pub(super) fn apart(kernel: &Kernel, args: &[Value], places: [Loc; 3]) -> Option<Diagnostic> {
    let (left, left_block, _) = window(kernel, args[0])?;
    let (sums, sums_block, stride) = window(kernel, args[2])?;
    if left_block[0] != sums_block[0] {
        let headline = "the left factor lies in other rows of tensor memory than its sums";
        return Some(
            Diagnostic::new(Code::DotOperand, places[0], headline)
                .compare("rows of a block", sums_block[0].to_string(), left_block[0].to_string())
                .place(kernel.tensor_memory[sums.root].loc, "sums allocated here")
                .why(SAME_ROWS)
                .help(in_code([sums_block[0], left_block[1]], 1)),
        );
    }
    // Of more rows, the next block of rows is what lies between, for both of them.
    if sums_block[0] != FEW_ROWS || sums.shape[0] != FEW_ROWS {
        return None;
    }
    [(left, left_block, places[0], 1), (sums, sums_block, places[2], stride)].into_iter().find_map(
        |(ty, block, at, stride)| {
            let (columns, actual) = (ty.shape[1], block[1].min(PRODUCT_COLUMNS));
            if columns <= actual {
                return None;
            }
            let headline =
                "a part of this lies in other rows of tensor memory than the rest of the product";
            let diagnostic = Diagnostic::new(Code::DotOperand, at, headline)
                .compare("columns of a block", columns.to_string(), actual.to_string())
                .place(kernel.tensor_memory[ty.root].loc, "allocated here")
                .why(SAME_ROWS);
            Some(if columns <= PRODUCT_COLUMNS {
                diagnostic.help(in_code([FEW_ROWS, columns], stride))
            } else {
                diagnostic
            })
        },
    )
}

/// A window of tensor memory, the rows and columns of its blocks, and how far apart its columns lie; none of what lies elsewhere, or in
/// no blocks of one block of threads.
fn window(kernel: &Kernel, value: Value) -> Option<(&TensorMemoryType, [u32; 2], u32)> {
    let Type::TensorMemory(ty) = kernel.ty(value) else { return None };
    match tensor_memory::form(kernel, ty.root) {
        Form::TensorMemory { block, col_stride, two_ctas: false } => Some((ty, block, col_stride)),
        _ => None,
    }
}

fn in_code(block: [u32; 2], stride: u32) -> String {
    format!("tmem_block({block:?}, {stride})")
}
