//! The metadata of a sparse A, of which each warp gives that of its sixteen rows (PTX ISA, "Matrix fragments for warpgroup-level
//! multiply-accumulate operation with sparse matrix A").

use crate::code::wgmma::{Metadata, Product};
use crate::exec::matrix::sparse::{named, refused, without};
use crate::fault::Run;
use crate::machine::Warp;
use crate::numeric::sparse::{Form, Indices, ROWS, rows_of_b};

/// What an instruction keeps of A. A register of A, if it were in registers, would have four bytes.
fn form(op: &Product) -> Form {
    Form { per_register: 4 / op.a_type.bytes(), kept: op.depth() }
}

/// The selector names lanes that there are.
pub(super) fn check_selector(op: &Product, metadata: Metadata) -> Run<()> {
    named(form(op), metadata.selector, "wgmma.mma_async.sp").map(|_| ())
}

/// The rows of a warp, by their bits, of which a lane that gives metadata holds nothing defined.
pub(super) fn unknown(warp: &Warp, op: &Product, metadata: Metadata) -> u32 {
    without(form(op), metadata.selector as usize, warp.regs.w_defined(metadata.data))
}

/// For each row of a warp the rows of B by which its elements are multiplied; rows that `unknown` has by any.
pub(super) fn rows(
    warp: &Warp,
    op: &Product,
    metadata: Metadata,
    unknown: u32,
) -> Run<[Vec<usize>; ROWS]> {
    let (form, selector) = (form(op), (metadata.selector as usize, Indices::Any));
    rows_of_b(form, warp.regs.w(metadata.data), selector, unknown)
        .map_err(|meaningless| refused(form, Indices::Any, meaningless))
}
