//! Left operands in tensor memory: they are in the same rows as their accumulator (PTX ISA, "tcgen05.mma: Data path layout").

use kernel_layout::Form;
use la_arena::ArenaMap;

use crate::{
    diag::{Code, Diagnostic},
    ir::{Kernel, Op, Region, StmtKind, TensorMemoryOp, TensorMemoryType, Type, Value},
    layouts::tensor_memory::{self, PRODUCT_COLUMNS},
    loc::Loc,
};

/// The rows of a block that leaves every other 16 rows to the next one.
const FEW_ROWS: u32 = 64;
/// Why both are in the same rows.
const SAME_ROWS: &str = "an instruction has its left operand in the same rows as its accumulator, and a second block of 64 rows is in the rows between those of the first (PTX ISA, \"tcgen05.mma: Data path layout\")";

/// The row of tensor memory in which each window begins that does so in one row alone.
pub(in crate::check) type FirstRows = ArenaMap<Value, u32>;

/// Notes where the windows of a region begin.
pub(in crate::check) fn first_rows(kernel: &Kernel, region: &Region, rows: &mut FirstRows) {
    for stmt in &region.stmts {
        if let StmtKind::Op { op: Op::TensorMemory(op), args, result: Some(result) } = &stmt.kind {
            let from = args.first().and_then(|&window| rows.get(window)).copied();
            let row = match op {
                TensorMemoryOp::Alloc(_) => Some(0),
                TensorMemoryOp::Index | TensorMemoryOp::View(_) => from,
                TensorMemoryOp::Tile(at) => from.and_then(|row| {
                    let Type::TensorMemory(ty) = kernel.ty(args[0]) else { return None };
                    let memory = tensor_memory::window(kernel, ty).ok()?;
                    Some(row + tensor_memory::place(&memory, *at, ty.dtype.bytes())[0])
                }),
                TensorMemoryOp::Load | TensorMemoryOp::Store => None,
            };
            if let Some(row) = row {
                rows.insert(*result, row);
            }
        }
        for inner in stmt.kind.regions() {
            first_rows(kernel, inner, rows);
        }
    }
}

/// Why the left operand of a product is not in the rows of its accumulator; `args` are its operands, `places` those in the source.
pub(in crate::check) fn apart(
    kernel: &Kernel,
    args: &[Value],
    places: [Loc; 3],
    rows: &FirstRows,
) -> Option<Diagnostic> {
    let (left, left_block, _) = window(kernel, args[0])?;
    let (sums, sums_block, stride) = window(kernel, args[2])?;
    if left_block[0] != sums_block[0] {
        let headline =
            "the left operand and the accumulator are in different rows of tensor memory";
        return Some(
            Diagnostic::new(Code::DotOperand, places[0], headline)
                .compare("rows of a block", sums_block[0].to_string(), left_block[0].to_string())
                .place(kernel.tensor_memory[sums.root].loc, "accumulator allocated here")
                .why(SAME_ROWS)
                .help(in_code([sums_block[0], left_block[1]], 1)),
        );
    }
    // Of more rows, the next block of rows is what is between, for both of them.
    if sums_block[0] != FEW_ROWS || sums.shape[0] != FEW_ROWS {
        return None;
    }
    let [first, required] = [args[0], args[2]].map(|window| rows.get(window));
    if first.is_none() || first != required {
        let row = |row: Option<&u32>| row.map_or("one of several".to_owned(), u32::to_string);
        let headline =
            "the left operand and the accumulator begin in different rows of tensor memory";
        return Some(
            Diagnostic::new(Code::DotOperand, places[0], headline)
                .compare("first row of tensor memory", row(required), row(first))
                .place(kernel.tensor_memory[sums.root].loc, "accumulator allocated here")
                .why(SAME_ROWS),
        );
    }
    [(left, left_block, places[0], 1), (sums, sums_block, places[2], stride)].into_iter().find_map(
        |(ty, block, at, stride)| {
            let (columns, actual) = (ty.shape[1], block[1].min(PRODUCT_COLUMNS));
            if columns <= actual {
                return None;
            }
            let headline =
                "a part of this is in other rows of tensor memory than the rest of the product";
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

/// A window of tensor memory, the rows and columns of its blocks, and how far apart its columns are; none of what is elsewhere, or in
/// no blocks of one block of threads.
fn window(kernel: &Kernel, value: Value) -> Option<(&TensorMemoryType, [u32; 2], u32)> {
    let Type::TensorMemory(ty) = kernel.ty(value) else { return None };
    let Form::TensorMemory { block, col_stride, two_ctas: false } =
        tensor_memory::product_form(kernel, ty.root)
    else {
        return None;
    };
    Some((ty, block, col_stride))
}

fn in_code(block: [u32; 2], stride: u32) -> String {
    format!("tmem_block({block:?}, {stride})")
}
