//! The shared memory of a block: all allocations of a kernel live at the same time.

use kernel_layout::Form;

use crate::{
    diag::{Code, Diagnostic},
    ir::Kernel,
};

/// Where every allocation begins: at a multiple of this many bytes.
const ALIGNMENT_BYTES: u64 = 128;

/// Allocations that together are more than a block can have.
pub(super) fn check(kernel: &Kernel) -> Option<Diagnostic> {
    let rings = kernel.rings();
    let limit = u64::from(kernel.target.hardware().shared_bytes_per_block);
    let mut total = 0u64;
    let mut over = None;
    for (root, data) in kernel.shared.iter() {
        let stages = rings.get(root).copied().unwrap_or(1);
        let elements: u64 = data.shape.iter().map(|extent| u64::from(*extent)).product();
        // Padding is as long as what it pads.
        let padded = matches!(data.pinned, Some(Form::NvmmaShared { fp4_padded: true, .. }));
        let bytes = elements * u64::from(data.dtype.shared_bytes()) * if padded { 2 } else { 1 };
        total += bytes.next_multiple_of(ALIGNMENT_BYTES) * u64::from(stages);
        if total > limit {
            over.get_or_insert(data.loc);
        }
    }
    let headline = format!("a block on {} cannot have this much shared memory", kernel.target);
    let diagnostic = Diagnostic::new(Code::SharedBudget, over?, headline)
        .compare("bytes", format!("at most {limit}"), total.to_string())
        .why("all shared allocations of a kernel live at the same time; what a pipelined loop fills counts once for each stage");
    Some(diagnostic)
}
