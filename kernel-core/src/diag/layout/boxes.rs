//! The messages for what tensor maps and descriptors do not describe.

use kernel_layout::tma::{Declined, Rule};
use kernel_layout::wgmma::{Nearest, Refusal};
use kernel_layout::{Form, basis_text};

use super::shared_text;
use crate::diag::{Code, Diagnostic};
use crate::ir::dtype::Packing;
use crate::layouts::tma::{
    MAP_BYTES, MOST_DIMS, MOST_INSTRUCTIONS, PaddedRefusal, STRIDE_BYTES, SliceRefusal, TmaRefusal,
};
use crate::layouts::wgmma::{Generation, Side};
use crate::layouts::{Allocation, Origin};
use crate::loc::Loc;

/// What is wrong with a copy that begins elsewhere.
const BEGINS_AT_A_UNIT: &str = "a TMA copy begins at a multiple of 16 bytes";
/// What has to be a multiple of 16.
const BYTES_BEFORE: &str = "bytes before the window in its row";
/// Why it has to be one.
const UNITS: &str = "TMA reads and writes rows in units of 16 bytes; a copy that begins elsewhere stops the kernel with an illegal instruction";

/// A copy that no tensor map does.
pub(super) fn refused(
    at: Loc,
    chosen_at: Option<Loc>,
    shape: &[u32],
    refusal: TmaRefusal,
) -> Diagnostic {
    let diagnostic = match refusal {
        TmaRefusal::InnerBytes { actual } => Diagnostic::new(
            Code::TensorMap,
            at,
            "the rows of the tile are too short for a tensor map",
        )
        .compare("bytes of a row", format!("a multiple of {MAP_BYTES}"), actual)
        .why("TMA moves units of 16 bytes along the innermost axis (CUDA driver API, `cuTensorMapEncodeTiled`: boxDim)"),
        TmaRefusal::Layout { actual, required_swizzle_bytes, declined } => {
            let nearest = form(required_swizzle_bytes);
            let diagnostic = Diagnostic::new(
                Code::TensorMap,
                at,
                "no tensor map has this layout of shared memory",
            );
            let (what, required, actual) = piece(&declined).unwrap_or_else(|| {
                let required = format!("`{nearest}`, or a narrower swizzle");
                ("layout", required, shared_text(&actual))
            });
            let diagnostic = diagnostic.compare(what, required, actual);
            diagnostic
                .why("TMA writes the rows of a box one after the other, with a swizzle of 32, 64 or 128 bytes or none")
                .help(format!(".with_layout({nearest})"))
        }
        TmaRefusal::Swizzle { required, actual } => {
            let required = form(required);
            Diagnostic::new(
                Code::TensorMap,
                at,
                "the tensor map and this tile have different swizzles",
            )
            .compare("layout", format!("`{required}`"), shared_text(&actual))
            .why("a tensor map and its tile need the same swizzle; a tile whose layout is not pinned takes the swizzle of the map")
            .help(format!(".with_layout({required})"))
        }
        TmaRefusal::Instructions { actual, required_swizzle_bytes } => Diagnostic::new(
            Code::TensorMap,
            at,
            "this layout of shared memory needs too many small copies",
        )
        .compare("instructions", format!("at most {MOST_INSTRUCTIONS}"), actual)
        .why("one TMA instruction copies a box of at most 256 elements along an axis, its rows contiguous")
        .help(format!(".with_layout({})", form(required_swizzle_bytes))),
        TmaRefusal::Padded(packing, refusal) => unpadded(at, packing, refusal),
        TmaRefusal::Rule { rule, required, actual } => ruled(at, rule, required, actual),
        TmaRefusal::Slice(SliceRefusal::Contiguous { axis }) => Diagnostic::new(
            Code::TensorMap,
            at,
            "a slice bounds the axis along which a TMA copy moves rows",
        )
        .compare(format!("range of axis {axis}"), "`..`, the whole axis", "a part of it")
        .why("TMA ends rows at the extent in the tensor map, which the launch encodes; only the other axes of a slice are bounded by coordinates"),
        TmaRefusal::Slice(SliceRefusal::Dimensions { actual, ends }) => Diagnostic::new(
            Code::TensorMap,
            at,
            "the tensor map of this slice has too many dimensions",
        )
        .compare("dimensions", format!("at most {MOST_DIMS}"), format!("{actual}, {ends} of them for bounds of the slice"))
        .why("each axis that a slice bounds takes another dimension, unless the tile has one element along it"),
        TmaRefusal::Past { bytes } => {
            Diagnostic::new(Code::TensorMap, at, BEGINS_AT_A_UNIT)
                .compare(BYTES_BEFORE, "a multiple of 16", format!("a multiple of 16, and {bytes} more"))
                .why(UNITS)
        }
        TmaRefusal::Apart => Diagnostic::new(
            Code::TensorMap,
            at,
            "a TMA copy cannot reach this part of a tile of shared memory",
        )
        .compare("extents", "those of contiguous bytes, of eight rows or more", format!("{shape:?}"))
        .why("a box is contiguous in shared memory, a swizzle repeats after eight rows, and of rows that are wider than 128 bytes each 128 bytes of all rows are contiguous (CUDA driver API, `cuTensorMapEncodeTiled`)"),
        TmaRefusal::Part => Diagnostic::new(
            Code::TensorMap,
            at,
            "a TMA copy fills a whole tile of shared memory",
        )
        .compare("extents", "those of the tile that has the layout", format!("{shape:?}"))
        .why("a part of a swizzled tile is not a box"),
    };
    diagnostic.place_if(chosen_at, "layout chosen here")
}

/// A copy that is not done with padded numbers.
fn unpadded(at: Loc, packing: Packing, refusal: PaddedRefusal) -> Diagnostic {
    let (of, element) = (packing.of, packing.map.name.to_uppercase());
    let illegal = "a copy that begins elsewhere stops the kernel with an illegal instruction";
    let multiple = |of: &dyn std::fmt::Display| format!("a multiple of {of}");
    let mut why = format!(
        "a tensor map that pads {of} numbers loads whole boxes of 128 numbers in a row (CUDA driver API, `cuTensorMapEncodeTiled`: {element})"
    );
    let mut what = "";
    let mut help = None;
    let (headline, required, actual) = match refusal {
        PaddedRefusal::Stored => (
            format!("no copy removes the padding of {of} numbers"),
            "a load, to this tile".to_owned(),
            "a store or a reduction, from it".to_owned(),
        ),
        PaddedRefusal::ByRows => (
            format!("a gather or scatter cannot pad {of} numbers"),
            "`tma::load`".to_owned(),
            "rows by their numbers".to_owned(),
        ),
        PaddedRefusal::Swizzle { actual } => {
            (what, help) = ("swizzle of the map", Some("swizzle = 128"));
            let headline =
                format!("padded {of} numbers need another swizzle than the tensor map has");
            (headline, "128".to_owned(), actual.to_string())
        }
        PaddedRefusal::Turned { axis } => (
            format!("a copy pads {of} numbers along the last axis of the tensor"),
            "numbers along the last axis".to_owned(),
            format!("numbers along axis {axis}"),
        ),
        PaddedRefusal::Column { required, actual } => {
            what = "bytes before the window in its row";
            why = format!("TMA pads 128 numbers, {required} bytes, at a time; {illegal}");
            let headline =
                format!("a copy of padded {of} numbers begins at a multiple of {required} bytes");
            (headline, multiple(&required), actual.to_string())
        }
        PaddedRefusal::Stride { actual } => {
            what = "bytes from one row of the tensor to the next";
            why = format!(
                "in a map that pads {of} numbers every row begins at a multiple of {STRIDE_BYTES} bytes (CUDA driver API, `cuTensorMapEncodeTiled`: globalStrides)"
            );
            (
                "no tensor map has this stride".to_owned(),
                multiple(&STRIDE_BYTES),
                actual.to_string(),
            )
        }
    };
    let diagnostic =
        Diagnostic::new(Code::TensorMap, at, headline).compare(what, required, actual).why(why);
    diagnostic.help_if(help)
}

/// A layout that boxes have, as a user writes it.
fn form(swizzle_bytes: u32) -> String {
    match swizzle_bytes {
        0 => "row_major()".to_owned(),
        bytes => format!("swizzle({bytes})"),
    }
}

/// What stands against a layout of extents and strides: what is compared, what is required, what there is.
fn piece(declined: &Declined) -> Option<(&'static str, String, String)> {
    let multiple = |of: &u64| format!("a multiple of {of}");
    match declined {
        Declined::Chain { required, actual } => Some((
            "elements from the end of a row to the next one",
            required.to_string(),
            actual.map_or_else(|| "none".to_owned(), |actual| actual.to_string()),
        )),
        Declined::Map { rule, required, actual, .. } => match rule {
            Rule::InnerBoxBytes => Some(("bytes of a row", multiple(required), actual.to_string())),
            Rule::SwizzleInnerBox => {
                Some(("bytes of a row", format!("at most {required}"), actual.to_string()))
            }
            Rule::SwizzlePitch => {
                Some(("bytes from row to row", required.to_string(), actual.to_string()))
            }
            Rule::SharedAlignment => {
                Some(("first byte of a box", multiple(required), actual.to_string()))
            }
            Rule::BoxDim => Some((
                "elements of a box along an axis",
                format!("1 to {required}"),
                actual.to_string(),
            )),
            Rule::Rank
            | Rule::GlobalDim
            | Rule::GlobalStrideRange
            | Rule::GlobalStrideAlignment
            | Rule::InnerStride
            | Rule::InnerCoordinate => None,
        },
        Declined::Rank { .. }
        | Declined::ElementBytes { .. }
        | Declined::Elements { .. }
        | Declined::Layout(_)
        | Declined::Dim { .. }
        | Declined::Replicas { .. }
        | Declined::Swizzle { .. }
        | Declined::Coordinate { .. }
        | Declined::Window { .. }
        | Declined::Extent { .. }
        | Declined::OpenDigit { .. } => None,
    }
}

/// A map of a known tensor, or a known place in it, that breaks a rule.
fn ruled(at: Loc, rule: Rule, required: u64, actual: u64) -> Diagnostic {
    let (headline, what, text, why) = match rule {
        Rule::InnerCoordinate => {
            (BEGINS_AT_A_UNIT, BYTES_BEFORE, format!("a multiple of {required}"), UNITS)
        }
        Rule::GlobalStrideAlignment => (
            "no tensor map has this stride",
            "bytes from one row of the tensor to the next",
            format!("a multiple of {required}"),
            "in a tensor map every row begins at a multiple of 16 bytes (CUDA driver API, `cuTensorMapEncodeTiled`: globalStrides)",
        ),
        Rule::GlobalStrideRange => (
            "no tensor map has this stride",
            "bytes from one row of the tensor to the next",
            format!("less than {required}"),
            "a stride of a tensor map has 40 bits (CUDA driver API, `cuTensorMapEncodeTiled`: globalStrides)",
        ),
        Rule::InnerStride => (
            "no tensor map has this stride",
            "stride of the innermost axis",
            required.to_string(),
            "TMA copies rows of contiguous elements (CUDA driver API, `cuTensorMapEncodeTiled`: globalStrides)",
        ),
        Rule::Rank => (
            "the tile needs more dimensions than a tensor map has",
            "dimensions",
            format!("1 to {required}"),
            "a tensor map has at most 5 dimensions, and this tile splits axes of the tensor into several (CUDA driver API, `cuTensorMapEncodeTiled`: tensorRank)",
        ),
        Rule::GlobalDim
        | Rule::BoxDim
        | Rule::InnerBoxBytes
        | Rule::SwizzleInnerBox
        | Rule::SwizzlePitch
        | Rule::SharedAlignment => (
            "no tensor map describes this copy",
            rule.name(),
            required.to_string(),
            "each dimension of a tensor map has its limits (CUDA driver API, `cuTensorMapEncodeTiled`)",
        ),
    };
    Diagnostic::new(Code::TensorMap, at, headline).compare(what, text, actual).why(why)
}

/// An operand of a product that no descriptor describes.
pub(super) fn undescribed(
    (at, side, generation): (Loc, Side, Generation),
    origin: Origin,
    allocation: &Allocation,
    refusal: &Refusal,
) -> Diagnostic {
    let name = match side {
        Side::Left => "left",
        Side::Right => "right",
    };
    let headline = format!("tensor cores cannot read their {name} operand in this layout");
    let mut diagnostic = Diagnostic::new(Code::DotOperand, at, headline);
    diagnostic = match refusal {
        Refusal::MnMajor { element_bytes, nearest, .. } => {
            let bits = element_bytes * 8;
            let diagnostic = compared(diagnostic, nearest).why(match generation {
                Generation::Hopper => format!("operands of {bits} bits have to be contiguous along `k`; those of 16 bits can be contiguous along either axis (PTX ISA, \"wgmma.mma_async\": imm-trans-a, imm-trans-b)"),
                // Bytes that hold one number each are read both ways.
                Generation::Blackwell if *element_bytes == 1 => "FP4 operands have to be contiguous along `k` (PTX ISA, \"tcgen05.mma\": transpose of `.kind::mxf4`, `.kind::mxf4nvf4`)".to_owned(),
                Generation::Blackwell => format!("operands of {bits} bits have to be contiguous along `k`; those of 8 and 16 bits can be contiguous along either axis (PTX ISA, \"tcgen05: Canonical layouts\")"),
            });
            // What is not pinned can be stored transposed, and read then.
            match origin {
                Origin::Inferred | Origin::Declared(_) => turned(diagnostic, side, allocation),
                Origin::Pinned(_) => diagnostic,
            }
        }
        Refusal::Bases { nearest } => match (origin, &nearest.form) {
            (Origin::Declared(declared_at), Form::NvmmaShared { swizzle_bytes, .. }) => differs(diagnostic, nearest)
                .place(declared_at, "its tensor map declares the swizzle")
                .help(format!("swizzle = {swizzle_bytes}")),
            (Origin::Declared(_) | Origin::Pinned(_) | Origin::Inferred, _) => {
                compared(diagnostic, nearest)
            }
        }
            .why("a descriptor gives the places of pieces of 8 rows by 16 bytes by two strides and a swizzle; it cannot describe other layouts (PTX ISA, \"Shared Memory Matrix Layout\")"),
        Refusal::Extent { axis, actual, required } => diagnostic.compare(
            format!("extent {axis}"),
            format!("at least {required}"),
            actual,
        ),
        Refusal::Bytes { actual, limit } => {
            diagnostic.compare("bytes", format!("at most {limit}"), actual)
        }
        Refusal::ElementBytes { .. }
        | Refusal::Rank { .. }
        | Refusal::Dim { .. }
        | Refusal::NotOnePlaceEach
        | Refusal::Instruction { .. } => diagnostic.why(refusal.to_string()),
    };
    match origin {
        Origin::Pinned(chosen_at) => diagnostic.place(chosen_at, "layout chosen here"),
        Origin::Declared(_) | Origin::Inferred => diagnostic,
    }
}

/// The help to store an operand with the depth of the product contiguous.
fn turned(diagnostic: Diagnostic, side: Side, allocation: &Allocation) -> Diagnostic {
    let mut shape = allocation.shape.clone();
    if let [.., rows, columns] = &mut shape[..] {
        std::mem::swap(rows, columns);
    }
    let read = match side {
        Side::Left => "read without `.t()`",
        Side::Right => "read with `.t()`",
    };
    diagnostic.place(allocation.at, "allocated here").help(format!(
        "shared::<{}>({shape:?}) // contiguous along `k`, {read}",
        allocation.dtype.name()
    ))
}

/// The first basis that differs from the nearest layout, and that layout.
fn compared(diagnostic: Diagnostic, nearest: &Nearest) -> Diagnostic {
    let transposed = matches!(nearest.form, Form::NvmmaShared { transposed: true, .. });
    let diagnostic = differs(diagnostic, nearest);
    if transposed {
        diagnostic
    } else {
        diagnostic.help(format!(".with_layout({})", nearest.form.in_code()))
    }
}

/// The first basis that differs from the nearest layout.
fn differs(diagnostic: Diagnostic, nearest: &Nearest) -> Diagnostic {
    let basis =
        |basis: &Option<Vec<u32>>| basis.as_ref().map_or_else(|| "none".to_owned(), basis_text);
    let mismatch = &nearest.mismatch;
    diagnostic.compare(
        format!("offset bit {}", mismatch.bit),
        basis(&mismatch.required),
        basis(&mismatch.actual),
    )
}
