//! The messages for layouts between which `tcgen05.cp` cannot copy.

use kernel_layout::Form;
use kernel_layout::tensor_copy::CopyRefusal;

use super::shared_text;
use crate::diag::{Code, Diagnostic};
use crate::layouts::CopyEnds;
use crate::layouts::tensor_copy::TensorCopyRefusal;
use crate::layouts::tensor_memory::{BLOCK_ROWS, in_words};
use crate::loc::Loc;

/// What an instruction reads.
const READS: &str = "`tcgen05.cp` reads pieces of 8 rows by 16 bytes by a matrix descriptor, with a swizzle of 32, 64 or 128 bytes or with the 16 bytes of one row directly after those of the row before; rows of the tile become rows of tensor memory (PTX ISA, \"tcgen05.cp\", \"Shared memory descriptor\")";

/// A copy to tensor memory that no instruction does.
pub(super) fn refused(at: Loc, ends: &CopyEnds, refusal: TensorCopyRefusal) -> Diagnostic {
    let new = |headline| Diagnostic::new(Code::TensorCopy, at, headline);
    let [rows, columns] = ends.shape;
    match refusal {
        TensorCopyRefusal::Bits { actual, required } => {
            let diagnostic = new("no instruction copies elements of this size to a block of tensor memory")
            .compare("bits of an element", required, actual)
            .place(ends.memory_at, "allocated here")
            .why("a block has one element of an accumulator in each column of 32 bits, or packed elements of an operand; `tcgen05.cp` copies columns unchanged and without gaps. If `.with_layout(..)` gives the layout, it copies the bits unchanged")
            ;
            let help = |_| format!(".with_layout({})", written(rows, columns));
            diagnostic.help_if(copies(rows).map(help))
        }
        TensorCopyRefusal::BlockRows { actual, required } => {
            let diagnostic = new(&format!("no instruction copies to blocks of {actual} rows"))
                .compare("rows of a block", required, actual)
                .place(ends.memory_at, "allocated here")
                .why("`tcgen05.cp` writes adjacent rows of tensor memory; a block of 64 rows has every other group of 16 (PTX ISA, \"tcgen05.cp\", \"tcgen05.mma: Data path layout\")");
            if let Form::TensorMemory { block, col_stride, .. } = &ends.memory
                && rows >= required
            {
                diagnostic.help(format!("tmem_block([{required}, {}], {col_stride})", block[1]))
            } else if copies(rows).is_some() {
                // What is not an accumulator may have another layout.
                diagnostic.help(format!(".with_layout({})", written(rows, columns)))
            } else {
                diagnostic
            }
        }
        TensorCopyRefusal::ByRows => new("a tile whose rows are used one by one cannot be copied to tensor memory")
            .compare("layout in shared memory", "one layout for the whole tile", "one layout for each row")
            .place(ends.shared_made_at, "allocated here")
            .why("`ring[i]` of rank 1 is a buffer of its own, and the tile is its buffers one after the other; a descriptor needs a layout of rows and columns (PTX ISA, \"Shared memory descriptor\")"),
        TensorCopyRefusal::Source { contiguous } => source(at, ends, contiguous),
        TensorCopyRefusal::Layout(refusal) => layouts(at, ends, &refusal),
    }
}

/// Two layouts that do not fit together.
fn layouts(at: Loc, ends: &CopyEnds, refusal: &CopyRefusal) -> Diagnostic {
    let new = |headline| Diagnostic::new(Code::TensorCopy, at, headline);
    let [rows, columns] = ends.shape;
    match refusal {
        CopyRefusal::Rows { .. } | CopyRefusal::Copies { .. } => {
            let diagnostic = new("no instruction writes these rows of tensor memory at once");
            let diagnostic = match copies(rows) {
                Some(required) => diagnostic
                    .compare("copies of each row", required, actual_copies(&ends.memory))
                    .help(written(rows, columns)),
                None => diagnostic.compare("rows of the tile", "4, 32, 64, 128 or more", rows),
            };
            diagnostic
                .place(ends.memory_at, "layout chosen here")
                .why("each of the four warps reaches 32 rows of tensor memory; `tcgen05.cp` writes 128 rows once, 64 rows twice, 32 rows to each warp, or one row to the first row of each warp (PTX ISA, \"tcgen05.cp\": .multicast)")
        }
        CopyRefusal::Gaps => gaps(at, ends),
        CopyRefusal::RowBits { actual, required } => {
            let by_threads = if ends.memory == Form::TensorMemoryScales {
                "; threads store shorter rows of scales: `to.store(from.load())`"
            } else {
                ""
            };
            new("the rows of this tile are too short for `tcgen05.cp`")
                .compare(
                    "bits in a row of tensor memory",
                    format!("a multiple of {required}"),
                    actual,
                )
                .place(ends.memory_at, "allocated here")
                .why(format!("`tcgen05.cp` copies 128 or 256 bits of each row{by_threads} (PTX ISA, \"tcgen05.cp\": .shape)"))
        }
        CopyRefusal::Interrupted { span_bytes, actual } => {
            interrupted(at, ends, *span_bytes, *actual)
        }
        CopyRefusal::Source => unreachable!("`TensorCopyRefusal::Source` says it"),
    }
}

/// Columns of tensor memory between those that are written.
fn gaps(at: Loc, ends: &CopyEnds) -> Diagnostic {
    let [_, columns] = ends.shape;
    let diagnostic = Diagnostic::new(
        Code::TensorCopy,
        at,
        "no instruction leaves gaps in the columns of tensor memory",
    )
    .place(ends.memory_at, "allocated here");
    if let Form::TensorMemory { block: [block_rows, block_columns], col_stride, .. } = &ends.memory
        && columns < *block_columns
    {
        return diagnostic
            .compare("columns of a block", format!("{columns}, like the part"), block_columns)
            .why("blocks along the rows of the tile are adjacent in tensor memory, so the columns that a part leaves out of each block are between those that it has")
            .help(format!(".with_layout(tmem_block([{block_rows}, {columns}], {col_stride}))"));
    }
    diagnostic
        .compare("layout", "elements that fill the columns", in_words(&ends.memory))
        .why("`tcgen05.cp` copies columns of 32 bits unchanged (PTX ISA, \"tcgen05.cp\")")
}

/// Shared memory through which no descriptor leads.
fn source(at: Loc, ends: &CopyEnds, contiguous: usize) -> Diagnostic {
    let headline = "the tensor cores cannot copy from this layout of shared memory";
    let diagnostic = Diagnostic::new(Code::TensorCopy, at, headline);
    let diagnostic = if contiguous == 0 {
        diagnostic.compare("contiguous in shared memory", "columns of the tile", "rows of the tile")
    } else {
        let required = ends.nearest.as_ref().map_or_else(
            || "16 bytes of each row, one after the other".to_owned(),
            |form| format!("`{}`", form.in_code()),
        );
        diagnostic.compare("layout", required, shared_text(&ends.shared))
    };
    with_nearest(placed(diagnostic, ends).why(READS), ends)
}

/// A span of the swizzle that is not contiguous in tensor memory.
fn interrupted(at: Loc, ends: &CopyEnds, span_bytes: u32, actual: u32) -> Diagnostic {
    let element_bytes = ends.element_bits / 8;
    let (span, run) = (span_bytes / element_bytes, actual / element_bytes);
    let diagnostic = Diagnostic::new(
        Code::TensorCopy,
        at,
        "no instruction copies a swizzled span to several places in tensor memory",
    );
    let diagnostic =
        if let Form::TensorMemory { block: [block_rows, _], col_stride, .. } = &ends.memory {
            diagnostic
                .compare("columns of a block", format!("{span} or more"), run)
                .help(format!("tmem_block([{block_rows}, {span}], {col_stride})"))
        } else {
            let actual = format!("{run}; the layout is {}", in_words(&ends.memory));
            let required = format!("{span} or more");
            with_nearest(diagnostic.compare("adjacent columns", required, actual), ends)
        };
    placed(diagnostic, ends)
        .place(ends.memory_at, "allocated here")
        .why(format!("a descriptor describes tiles of 8 rows by a span of the swizzle, here {span_bytes} bytes or {span} elements; blocks along the rows of the tile are adjacent in tensor memory, so the columns of one are followed by those of the next (PTX ISA, \"Shared memory descriptor\")"))
}

/// The layout that shared memory can have.
fn with_nearest(diagnostic: Diagnostic, ends: &CopyEnds) -> Diagnostic {
    let nearest = ends.nearest.as_ref();
    diagnostic.help_if(nearest.map(|form| format!(".with_layout({})", form.in_code())))
}

/// The place where the layout of shared memory was pinned.
fn placed(diagnostic: Diagnostic, ends: &CopyEnds) -> Diagnostic {
    diagnostic.place_if(ends.shared_at, "layout chosen here")
}

/// The copies that a tile of this many rows needs; nothing if no instruction writes this many.
fn copies(rows: u32) -> Option<&'static str> {
    match rows {
        4 => Some("none, and one row for each warp"),
        32 => Some("R[4 : 32 @ TLane]"),
        64 => Some("R[2 : 64 @ TLane] or R[2 : 32 @ TLane]"),
        128.. => Some("none"),
        _ => None,
    }
}

/// The copies that a layout has.
fn actual_copies(form: &Form) -> String {
    if let Form::Tile(tile) = form
        && let Some((_, replica)) = tile.to_string().split_once(" + R")
    {
        return format!("R{replica}");
    }
    let Form::Tile(_) = form else { return form.in_code() };
    "none".to_owned()
}

/// A layout of this many rows that is copied to.
fn written(rows: u32, columns: u32) -> String {
    if rows == 4 {
        return format!("layout!(S[(4, {columns}) : (32 @ TLane, 1 @ TCol)])");
    }
    let blocks = rows / BLOCK_ROWS;
    if blocks > 1 {
        // Blocks of all rows contiguous.
        return format!(
            "layout!(S[({blocks}, {BLOCK_ROWS}, {columns}) : ({columns} @ TCol, 1 @ TLane, 1 @ TCol)])"
        );
    }
    let copies = match rows {
        32 => " + R[4 : 32 @ TLane]",
        64 => " + R[2 : 64 @ TLane]",
        _ => "",
    };
    format!("layout!(S[({rows}, {columns}) : (1 @ TLane, 1 @ TCol)]{copies})")
}
