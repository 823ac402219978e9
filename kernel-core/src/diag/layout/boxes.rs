//! The words for what tensor maps and descriptors do not describe.

use kernel_layout::wgmma::{Nearest, Refusal};
use kernel_layout::{Dim, Form, basis_text};

use crate::diag::{Code, Diagnostic};
use crate::layouts::tma::{BOX_ELEMENTS, MAP_BYTES, TmaRefusal};
use crate::layouts::warpgroup::Side;
use crate::loc::Loc;

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
        .compare("bytes of a row", format!("a multiple of {MAP_BYTES}"), actual.to_string())
        .why("TMA moves pieces of 16 bytes along the innermost axis (CUDA driver API, `cuTensorMapEncodeTiled`: boxDim)"),
        TmaRefusal::Layout { required_swizzle_bytes: 0, .. }
            if shape.last().is_some_and(|extent| *extent > BOX_ELEMENTS) =>
        {
            let extent = shape.last().copied().unwrap_or(0);
            Diagnostic::new(Code::TensorMap, at, "no tensor map arranges shared memory like this")
                .compare("elements of a row", format!("at most {BOX_ELEMENTS}"), extent.to_string())
                .why("a copy moves at most 256 elements along an axis; of a wider tile whose layout is not pinned the pieces lie behind one another")
        }
        TmaRefusal::Layout { actual, required_swizzle_bytes } => {
            let required = match required_swizzle_bytes {
                0 => "row_major()".to_owned(),
                bytes => format!("swizzle({bytes})"),
            };
            let offsets: Vec<String> = actual.bases(Dim::Offset).iter().map(basis_text).collect();
            Diagnostic::new(Code::TensorMap, at, "no tensor map arranges shared memory like this")
                .compare("layout", format!("`{required}`, or a narrower swizzle"), format!("offsets {}", offsets.join(" ")))
                .why("TMA writes the rows of a box one after the other, in one of the swizzles of 32, 64 and 128 bytes that the hardware has, or in none")
                .help(format!(".with_layout({required})"))
        }
        TmaRefusal::Part => Diagnostic::new(
            Code::TensorMap,
            at,
            "a copy by tensor map fills a whole tile of shared memory",
        )
        .compare("extents", "those of the tile whose layout it is", format!("{shape:?}"))
        .why("a part of a swizzled tile is no box"),
    };
    match chosen_at {
        Some(chosen_at) => diagnostic.place(chosen_at, "layout chosen here"),
        None => diagnostic,
    }
}

/// An operand of a product by warpgroups that no descriptor describes.
pub(super) fn undescribed(
    at: Loc,
    side: Side,
    chosen_at: Option<Loc>,
    refusal: &Refusal,
) -> Diagnostic {
    let name = match side {
        Side::Left => "left",
        Side::Right => "right",
    };
    let headline = format!("warpgroups cannot read their {name} operand in this layout");
    let mut diagnostic = Diagnostic::new(Code::DotOperand, at, headline);
    diagnostic = match refusal {
        Refusal::MnMajor { element_bytes, nearest, .. } => {
            let bits = element_bytes * 8;
            compared(diagnostic, nearest).why(format!("elements of {bits} bits are read along the depth of the product alone; those of 16 bits both ways (PTX ISA, \"wgmma.mma_async\": imm-trans-a, imm-trans-b)"))
        }
        Refusal::Bases { nearest } => compared(diagnostic, nearest)
            .why("a descriptor says where the rows of 8 by 16 bytes lie by two distances and a swizzle; other layouts it cannot describe (PTX ISA, \"Shared Memory Matrix Layout\")"),
        Refusal::Extent { axis, actual, required } => diagnostic.compare(
            format!("extent {axis}"),
            format!("at least {required}"),
            actual.to_string(),
        ),
        Refusal::Bytes { actual, limit } => {
            diagnostic.compare("bytes", format!("at most {limit}"), actual.to_string())
        }
        Refusal::ElementBytes { .. }
        | Refusal::Rank { .. }
        | Refusal::Dim { .. }
        | Refusal::NotOnePlaceEach
        | Refusal::Instruction { .. } => diagnostic.why(refusal.to_string()),
    };
    match chosen_at {
        Some(chosen_at) => diagnostic.place(chosen_at, "layout chosen here"),
        None => diagnostic,
    }
}

/// The first basis that differs from the nearest layout, and that layout.
fn compared(diagnostic: Diagnostic, nearest: &Nearest) -> Diagnostic {
    let basis =
        |basis: &Option<Vec<u32>>| basis.as_ref().map_or_else(|| "none".to_owned(), basis_text);
    let mismatch = &nearest.mismatch;
    let transposed = matches!(nearest.form, Form::NvmmaShared { transposed: true, .. });
    let diagnostic = diagnostic.compare(
        format!("offset bit {}", mismatch.bit),
        basis(&mismatch.required),
        basis(&mismatch.actual),
    );
    if transposed {
        diagnostic
    } else {
        diagnostic.help(format!(".with_layout({})", nearest.form.in_code()))
    }
}
