//! Layouts in tensor memory: what the allocations of a kernel take, and which layouts products have.

use kernel_layout::Form;

use super::{Builder, left_factor};
use crate::{
    diag::{Code, Diagnostic},
    ir::{
        CtaGroup, Kernel, Op, Region, StmtKind, Tcgen05, TensorMemoryData, TensorMemoryOp, Type,
        Value,
    },
    layouts::tensor_memory::{self, BLOCK_ROWS, COLUMN_BITS, COLUMNS, PRODUCT_COLUMNS},
    loc::Loc,
};

/// The fewest rows of an instruction (PTX ISA, "tcgen05.mma: Matrix shape").
const LEAST_ROWS: u32 = 64;
/// The rows of a factor whose scales share a column: as many as a warp has lanes.
const WARP_ROWS: u32 = 32;
/// The fewest columns of an instruction of 128 rows (PTX ISA, "tcgen05.mma: Matrix shape").
const LEAST_COLUMNS: u32 = 16;

impl Builder<'_> {
    /// Reports allocations of tensor memory that have no layout, or that together are more than there is, and products of what lies in
    /// other layouts than theirs.
    pub(super) fn tensor_memory_layouts(&mut self, kernel: &Kernel) {
        let mut total = 0;
        for (root, data) in kernel.tensor_memory.iter() {
            let layout = match tensor_memory::layout(kernel, root) {
                Ok(layout) => layout,
                Err(problem) => {
                    let few = (data.pinned.is_none()).then(|| too_few_rows(data)).flatten();
                    self.report(few.unwrap_or_else(|| problem.into_diagnostic()));
                    return;
                }
            };
            total += tensor_memory::columns(&layout, data);
            if total > COLUMNS {
                self.report(
                    Diagnostic::new(
                        Code::TensorMemoryBudget,
                        data.loc,
                        "a multiprocessor does not have this much tensor memory",
                    )
                    .compare("columns", format!("at most {COLUMNS}"), total.to_string())
                    .why("all allocations of a kernel live at the same time; each takes columns of 32 bits in all of its 128 rows, also where a tile has fewer rows (PTX ISA, \"Tensor Memory\")"),
                );
                return;
            }
        }
        let mut found = Vec::new();
        products(kernel, &kernel.body, &mut found);
        accesses(kernel, &kernel.body, kernel.warps, &mut found);
        for diagnostic in found {
            self.report(diagnostic);
        }
    }
}

/// What is wrong with an allocation that no product could add to; the user wrote no layout.
fn too_few_rows(data: &TensorMemoryData) -> Option<Diagnostic> {
    let [rows, columns] = tensor_memory::tile(data);
    if rows >= LEAST_ROWS {
        return None;
    }
    let mut shape = data.shape.clone();
    let first = shape.len() - 2;
    shape.splice(first.., [LEAST_ROWS, columns]);
    Some(
        Diagnostic::new(Code::TensorMemory, data.loc, "a tile of tensor memory has more rows than this")
            .compare("rows", format!("{LEAST_ROWS} or more"), rows.to_string())
            .why("without `.with_layout(..)` tensor memory is laid out for products, which have 64 or 128 rows (PTX ISA, \"tcgen05.mma: Matrix shape\")")
            .help(format!("tmem::<{}>({shape:?})", data.dtype.name())),
    )
}

/// The loads and stores of a region, which so many warps run, that no instruction does.
fn accesses(kernel: &Kernel, region: &Region, warps: u32, found: &mut Vec<Diagnostic>) {
    for stmt in &region.stmts {
        match &stmt.kind {
            StmtKind::Op {
                op: Op::TensorMemory(TensorMemoryOp::Load | TensorMemoryOp::Store),
                args,
                ..
            } => {
                if let Type::TensorMemory(window) = kernel.ty(args[0])
                    && let Err(problem) = tensor_memory::registers(kernel, window, warps, stmt.loc)
                {
                    found.push(problem.into_diagnostic());
                }
            }
            StmtKind::Specialize { default, partitions, .. } => {
                accesses(kernel, default, warps, found);
                for partition in partitions {
                    accesses(kernel, &partition.body, partition.warps, found);
                }
            }
            StmtKind::Op { .. }
            | StmtKind::If { .. }
            | StmtKind::For { .. }
            | StmtKind::Loop { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Ptx { .. } => {
                for inner in stmt.kind.regions() {
                    accesses(kernel, inner, warps, found);
                }
            }
        }
    }
}

/// The products of a region whose operands in tensor memory lie in layouts that no instruction has.
fn products(kernel: &Kernel, region: &Region, found: &mut Vec<Diagnostic>) {
    for stmt in &region.stmts {
        if let StmtKind::Op { op: Op::Tcgen05(Tcgen05::Mma { group, scaled, .. }), args, .. } =
            &stmt.kind
        {
            let places = kernel.operands.get(&stmt.loc).copied().unwrap_or([stmt.loc; 3]);
            let of_sums = match group {
                CtaGroup::One => sums(kernel, args[2], places[2]),
                CtaGroup::Pair => sums_of_pair(kernel, args[2], places[2]),
            };
            let refused = [factor(kernel, args[0], places[0]), of_sums];
            if refused.iter().all(Option::is_none) {
                found.extend(left_factor::apart(kernel, args, places));
            }
            found.extend(refused.into_iter().flatten());
            if scaled.is_some() {
                found.extend(scales(kernel, args, places));
            }
        }
        for inner in stmt.kind.regions() {
            products(kernel, inner, found);
        }
    }
}

/// What a block-scaled product asks of its sums, and of where its scales lie.
fn scales(kernel: &Kernel, args: &[Value], places: [Loc; 3]) -> Option<Diagnostic> {
    let Type::TensorMemory(sums) = kernel.ty(args[2]) else { return None };
    let Form::TensorMemory { block: [rows, columns], .. } = tensor_memory::form(kernel, sums.root)
    else {
        return None;
    };
    let place = kernel.tensor_memory[sums.root].loc;
    if rows != BLOCK_ROWS || columns < sums.shape[1].min(WARP_ROWS) {
        let least = sums.shape[1].min(WARP_ROWS);
        let required = format!("tmem_block([{BLOCK_ROWS}, {least} to {PRODUCT_COLUMNS}], 1)");
        let headline = "no block-scaled product has this layout in tensor memory";
        return Some(
            Diagnostic::new(Code::DotOperand, places[2], headline)
                .compare("layout", required, format!("tmem_block([{rows}, {columns}], 1)"))
                .place(place, "allocated here")
                .why("a block-scaled instruction has 128 rows, and the scales of 32 rows or columns share a column of tensor memory (PTX ISA, \"tcgen05.mma: Scale factor layouts\")")
                .help(format!("tmem_block([{BLOCK_ROWS}, {}], 1)", sums.shape[1].min(PRODUCT_COLUMNS))),
        );
    }
    args[4..6].iter().find_map(|&operand| {
        let Type::TensorMemory(ty) = kernel.ty(operand) else { return None };
        let actual = tensor_memory::form(kernel, ty.root);
        if actual == Form::TensorMemoryScales {
            return None;
        }
        let headline = "the scales of a product lie in another layout";
        Some(
            Diagnostic::new(Code::DotOperand, kernel.tensor_memory[ty.root].loc, headline)
                .compare("layout", "that of scales, without `.with_layout(..)`", actual.in_code())
                .place(places[2], "multiplied here")
                .why("four scales along the depth share a column, 32 rows of the factor are 32 rows of tensor memory, and each warp has a copy (PTX ISA, \"tcgen05.mma: Scale factor layouts\")"),
        )
    })
}

/// Elements of a left factor fill the columns.
fn factor(kernel: &Kernel, operand: Value, at: Loc) -> Option<Diagnostic> {
    let Type::TensorMemory(ty) = kernel.ty(operand) else { return None };
    match tensor_memory::form(kernel, ty.root) {
        Form::TensorMemory { col_stride: 1, two_ctas: false, .. } => None,
        other => Some(refusal(kernel, operand, at, (&other, 1, 1))),
    }
}

/// Each sum has a column of its own, and a block has the columns of one instruction.
fn sums(kernel: &Kernel, operand: Value, at: Loc) -> Option<Diagnostic> {
    let Type::TensorMemory(ty) = kernel.ty(operand) else { return None };
    let stride = (COLUMN_BITS / (ty.dtype.bytes() * 8)).max(1);
    let least = ty.shape[1].min(LEAST_COLUMNS);
    match tensor_memory::form(kernel, ty.root) {
        Form::TensorMemory { block, col_stride, two_ctas: false }
            if col_stride == stride && (least..=PRODUCT_COLUMNS).contains(&block[1]) =>
        {
            None
        }
        other => Some(refusal(kernel, operand, at, (&other, stride, least))),
    }
}

/// Half of a pair's sums lies in one block: of 64 rows in the layout of pairs, of 128 in that of single blocks, which is the same.
fn sums_of_pair(kernel: &Kernel, operand: Value, at: Loc) -> Option<Diagnostic> {
    let Type::TensorMemory(ty) = kernel.ty(operand) else { return None };
    let stride = (COLUMN_BITS / (ty.dtype.bytes() * 8)).max(1);
    let actual = tensor_memory::form(kernel, ty.root);
    let two_ctas = match actual {
        Form::TensorMemory { block, col_stride, two_ctas }
            if col_stride == stride && block[..] == ty.shape[..] =>
        {
            if two_ctas || block[0] == BLOCK_ROWS {
                return None;
            }
            true
        }
        _ => ty.shape[0] < BLOCK_ROWS,
    };
    let block = [ty.shape[0], ty.shape[1]];
    let required = Form::TensorMemory { block, col_stride: stride, two_ctas };
    Some(
        Diagnostic::new(Code::DotOperand, at, "no product of a pair has this layout in tensor memory")
            .compare("layout", required.in_code(), actual.in_code())
            .place(kernel.tensor_memory[ty.root].loc, "allocated here")
            .why("one instruction makes all sums of a pair; of 64 rows in each block, the right half of the columns lies in rows 64 to 127 (PTX ISA, \"tcgen05.mma: Data path layout\")")
            .help(format!("tmem::<{}>({:?})", ty.dtype.name(), kernel.tensor_memory[ty.root].shape)),
    )
}

fn refusal(
    kernel: &Kernel,
    operand: Value,
    at: Loc,
    (actual, stride, least): (&Form, u32, u32),
) -> Diagnostic {
    let shape = kernel.ty(operand).shape();
    let place = match kernel.ty(operand) {
        Type::TensorMemory(ty) => kernel.tensor_memory[ty.root].loc,
        Type::Scalar(_) | Type::Tile(..) | Type::Shared(_) | Type::Barrier(_) | Type::Error => at,
    };
    let block = [shape[0].min(BLOCK_ROWS), shape[1].min(PRODUCT_COLUMNS)];
    let required = format!("tmem_block([64 or 128, {least} to {PRODUCT_COLUMNS}], {stride})");
    Diagnostic::new(Code::DotOperand, at, "no product has this layout in tensor memory")
        .compare("layout", required, actual.in_code())
        .place(place, "allocated here")
        .why("an instruction has 64 or 128 rows, and up to 256 sums in columns of 32 bits; of a left factor, elements fill the columns (PTX ISA, \"tcgen05.mma: Data path layout\")")
        .help(format!("tmem_block({block:?}, {stride})"))
}
