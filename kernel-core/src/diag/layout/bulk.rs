//! The messages for shared memory that no bulk copy moves.

use super::{shared_text, shared_texts};
use crate::diag::{Code, Diagnostic};
use crate::layouts::bulk::BulkRefusal;
use crate::loc::Loc;

/// A bulk copy that shared memory does not allow.
pub(super) fn refused(at: Loc, chosen_at: Option<Loc>, refusal: &BulkRefusal) -> Diagnostic {
    let diagnostic = match refusal {
        BulkRefusal::Order { actual } => {
            Diagnostic::new(Code::BulkCopy, at, "a bulk copy keeps the order of bytes")
                .compare("layout", "`row_major()`", shared_text(actual))
                .why("it keeps the order of bytes in global memory; use `tma::load` for another layout")
                .help(".with_layout(row_major())")
        }
        BulkRefusal::Gaps { tile_bytes } => Diagnostic::new(
            Code::BulkCopy,
            at,
            "a bulk copy moves bytes without gaps",
        )
        .compare("bytes of a row", "a multiple of 128", tile_bytes)
        .why("rows of this allocation are also used one by one, so each begins at a multiple of 128 bytes"),
        BulkRefusal::Sides { required, actual } => {
            let [required, actual] = shared_texts([required, actual]);
            Diagnostic::new(
                Code::BulkCopy,
                at,
                "the two sides of this copy have different layouts",
            )
            .compare("layout", required, actual)
            .why("bytes arrive in the order in which they are sent; the elements would be in another order")
        }
    };
    diagnostic.place_if(chosen_at, "layout chosen here")
}
