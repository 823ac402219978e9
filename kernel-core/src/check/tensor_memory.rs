//! Layouts in tensor memory: what the allocations of a kernel take, and which layouts products have.

use kernel_layout::forms::PartRefusal;
use kernel_layout::tensor_copy::RowsHeld;
use kernel_layout::{Basis, Dim, Form, Layout, LayoutError};

use self::columns::Columns;
use super::tcgen05;
use crate::{
    diag::{Code, Diagnostic, counted},
    elaborate::Written,
    ir::{
        CtaGroup, Kernel, Multiplied, Op, ProductOp, Region, StmtKind, Tcgen05, TensorMemory,
        TensorMemoryData, TensorMemoryOp, TensorMemoryRole, TensorMemoryType, Type, Value,
    },
    layouts::{
        LayoutProblem,
        tensor_memory::{self, BLOCK_ROWS, COLUMN_BITS, COLUMNS, PRODUCT_COLUMNS},
    },
    loc::Loc,
};

pub(super) mod columns;
pub(super) mod left_factor;
mod sparse;

/// The fewest rows of an instruction (PTX ISA, "tcgen05.mma: Matrix shape").
const LEAST_ROWS: u32 = 64;
/// The rows of an operand whose scales share a column: as many as a warp has lanes.
const WARP_ROWS: u32 = 32;

/// Allocations of tensor memory that have no layout, or that together are more than there is, products of what is in other layouts than
/// theirs, and an order that the tensor cores do not keep.
pub(super) fn check(kernel: &Kernel, written: &Written) -> Vec<Diagnostic> {
    if let Some(diagnostic) = allocations(kernel) {
        return vec![diagnostic];
    }
    let mut found = Vec::new();
    parts(kernel, &kernel.body, &mut found);
    if !found.is_empty() {
        return found;
    }
    let mut rows = left_factor::FirstRows::new();
    left_factor::first_rows(kernel, &kernel.body, &mut rows);
    let mut columns = Columns::default();
    columns.find(kernel, &kernel.body);
    products(kernel, &kernel.body, (&rows, &columns), &mut found);
    accesses(kernel, &kernel.body, kernel.warps, &mut found);
    // What was refused, or is still to come, may be the wait that is missed here.
    if found.is_empty() && !written.awaits {
        found = tcgen05::check(kernel, (&rows, &columns), written);
    }
    found
}

/// What is wrong with the first allocation that has no layout, or finds no room.
fn allocations(kernel: &Kernel) -> Option<Diagnostic> {
    let mut total = 0u32;
    let mut over = None;
    let mut narrower = None;
    for (root, data) in kernel.tensor_memory.iter() {
        let layout = match tensor_memory::layout(kernel, root) {
            Ok(layout) => layout,
            Err(problem) => {
                let few = (data.pinned.is_none()).then(|| too_few_rows(data)).flatten();
                return Some(few.unwrap_or_else(|| problem.into_diagnostic()));
            }
        };
        if data.of.is_some() {
            continue;
        }
        let columns = tensor_memory::columns(&layout, data);
        total = tensor_memory::start(kernel, root, total).saturating_add(columns);
        if total > COLUMNS && over.is_none() {
            over = Some(data.loc);
            // The widest part of it that fits alone.
            let mut shape = data.shape.clone();
            if let (true, Some(width)) = (columns > COLUMNS, shape.last_mut()) {
                *width = (*width / columns.div_ceil(COLUMNS)).max(1);
                narrower = Some(format!("tmem::<{}>({shape:?})", data.dtype.name()));
            }
        }
    }
    let headline = "a multiprocessor does not have this much tensor memory";
    let diagnostic = Diagnostic::new(Code::TensorMemoryBudget, over?, headline)
        .compare("columns", format!("at most {COLUMNS}"), total.to_string())
        .why("all allocations of a kernel live at the same time; each takes columns of 32 bits in all 128 rows, even if the tile has fewer rows (PTX ISA, \"Tensor Memory\")");
    Some(diagnostic.help_if(narrower))
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
    let made = if data.of.is_some() { ".view" } else { "tmem" };
    Some(
        Diagnostic::new(Code::TensorMemory, data.loc, "a tile of tensor memory has more rows than this")
            .compare("rows", format!("{LEAST_ROWS} or more"), rows.to_string())
            .why("without `.with_layout(..)` tensor memory has the layout of products, which have 64 or 128 rows (PTX ISA, \"tcgen05.mma: Matrix shape\")")
            .help(format!("{made}::<{}>({shape:?})", data.dtype.name())),
    )
}

/// The parts and views of a region that the layouts of their tiles do not have.
fn parts(kernel: &Kernel, region: &Region, found: &mut Vec<Diagnostic>) {
    for stmt in &region.stmts {
        if let StmtKind::Op { op: Op::TensorMemory(op), args, result: Some(result) } = &stmt.kind
            && let Some(Type::TensorMemory(from)) = args.first().map(|&arg| kernel.ty(arg))
            && let Type::TensorMemory(to) = kernel.ty(*result)
        {
            let at = kernel.operands.get(&stmt.loc).map_or(stmt.loc, |[extents, ..]| *extents);
            match op {
                TensorMemoryOp::Tile(_) => found.extend(part(kernel, from, to, at)),
                TensorMemoryOp::View(root) => found.extend(view(kernel, from, *root, at)),
                TensorMemoryOp::Alloc(_)
                | TensorMemoryOp::Index
                | TensorMemoryOp::Load
                | TensorMemoryOp::Store => {}
            }
        }
        for inner in stmt.kind.regions() {
            parts(kernel, inner, found);
        }
    }
}

/// A part has whole words of all rows, as instructions reach them.
fn part(
    kernel: &Kernel,
    from: &TensorMemoryType,
    to: &TensorMemoryType,
    at: Loc,
) -> Option<Diagnostic> {
    let new = |headline| Diagnostic::new(Code::TensorMemory, at, headline);
    let form = tensor_memory::form(kernel, from.root);
    let diagnostic = match tensor_memory::window(kernel, to).err()? {
        PartRefusal::Rows { required, actual } => {
            let diagnostic = new("a part of a tile leaves out rows that the warps reach")
            .compare("rows of tensor memory", required.to_string(), actual.to_string())
            .why("each warp reads and writes its quarter of the 128 rows; a part has all of these rows, or all rows of one block of 64 (PTX ISA, \"tcgen05: Access restrictions\")");
            // With all rows; of a pair's accumulator half of the columns is in other rows.
            let whole = [[from.shape[0], to.shape[1]], [from.shape[0], from.shape[1]]];
            let possible = whole.iter().find(|shape| {
                let part = TensorMemoryType { shape: shape.to_vec(), ..to.clone() };
                tensor_memory::window(kernel, &part).is_ok()
            });
            match possible {
                Some(shape) => diagnostic.help(format!("{shape:?}")),
                None => diagnostic,
            }
        }
        PartRefusal::Words { required, actual } => {
            new("a part of a tile begins or ends within a column of 32 bits")
                .compare("columns of the tile", format!("{required} or more"), actual.to_string())
                .why("tensor memory is read and written in words of 32 bits")
                .help(format!("[{}, {required}]", to.shape[0]))
        }
    };
    let laid_out = format!("allocated here; the layout is {}", tensor_memory::in_words(&form));
    Some(diagnostic.place(kernel.tensor_memory[from.root].loc, laid_out))
}

/// A view has no more columns than the tile whose they are, which has all rows.
fn view(
    kernel: &Kernel,
    from: &TensorMemoryType,
    root: TensorMemory,
    at: Loc,
) -> Option<Diagnostic> {
    let words = |layout: &Layout, ty: &TensorMemoryType| {
        (layout.in_size(Dim::Col) * ty.dtype.bytes() * 8).div_ceil(COLUMN_BITS)
    };
    let memory = tensor_memory::window(kernel, from).ok()?;
    let whole = tensor_memory::layout(kernel, from.root).ok()?;
    let source = &kernel.tensor_memory[from.root];
    let other =
        |headline| Diagnostic::new(Code::TensorMemory, at, headline).place(source.loc, "the tile");
    let empty = |bases: &[Basis]| {
        bases.iter().map(|basis| basis.iter().all(|&part| part == 0)).collect::<Vec<bool>>()
    };
    if empty(memory.bases(Dim::Row)) != empty(whole.bases(Dim::Row)) {
        let diagnostic = other("a view of half of the rows of tensor memory")
            .compare("extents", format!("{:?}", whole.shape()), format!("{:?}", from.shape))
            .why("the other rows of these columns belong to another part of the tile");
        return Some(diagnostic);
    }
    let rows_held = tensor_memory::held(kernel, root);
    if rows_held != tensor_memory::held(kernel, from.root) {
        let what = |held| match held {
            RowsHeld::All => "in every row of tensor memory",
            RowsHeld::FirstOfWarps => "only in the first row of each warp",
        };
        let required = what(tensor_memory::held(kernel, from.root));
        let diagnostic = other("a view needs the rows of its tile")
            .compare("elements", required, what(rows_held))
            .why("a view reinterprets the columns of the tile; it does not change which rows hold data");
        return Some(diagnostic);
    }
    let in_word = (COLUMN_BITS / (from.dtype.bytes() * 8)).trailing_zeros() as usize;
    let scattered = empty(memory.bases(Dim::Col)).iter().skip(in_word).any(|&empty| empty);
    if scattered {
        let diagnostic = other("a view of columns that are not adjacent")
            .compare("extents", format!("{:?}", whole.shape()), format!("{:?}", from.shape))
            .why("blocks are adjacent in tensor memory, those along the rows of the tile first");
        return Some(diagnostic);
    }
    let data = &kernel.tensor_memory[root];
    let required = words(&memory, from);
    let actual = tensor_memory::tile_columns(&tensor_memory::layout(kernel, root).ok()?, data);
    (actual > required).then(|| {
        let [rows, columns] = tensor_memory::tile(data);
        // Both are powers of two.
        let fewer = columns * required / actual;
        let diagnostic = other("a view has more columns than the tile")
            .compare("columns of 32 bits", format!("at most {required}"), actual.to_string())
            .why("a view reinterprets the columns of the tile; the columns after them belong to other tiles");
        if fewer == 0 || data.pinned.is_some() {
            diagnostic
        } else {
            diagnostic.help(format!("[{rows}, {fewer}]"))
        }
    })
}

/// The loads and stores of a region, which this many warps run, that no instruction does.
fn accesses(kernel: &Kernel, region: &Region, warps: u32, found: &mut Vec<Diagnostic>) {
    for stmt in &region.stmts {
        if let StmtKind::Op {
            op: Op::TensorMemory(TensorMemoryOp::Load | TensorMemoryOp::Store),
            args,
            ..
        } = &stmt.kind
            && let Type::TensorMemory(window) = kernel.ty(args[0])
            && let Err(problem) = tensor_memory::registers(kernel, window, warps, stmt.loc)
        {
            let few = too_few_columns(kernel, window, &problem, stmt.loc);
            found.push(few.unwrap_or_else(|| not_accessed(kernel, window, stmt.loc)));
        }
        for (inner, warps) in stmt.kind.regions_with_warps(warps) {
            accesses(kernel, inner, warps, found);
        }
    }
}

/// A window with fewer columns than an instruction moves: those of blocks of 64 rows come in pairs.
fn too_few_columns(
    kernel: &Kernel,
    window: &TensorMemoryType,
    problem: &LayoutProblem,
    at: Loc,
) -> Option<Diagnostic> {
    let LayoutProblem::Form {
        error: LayoutError::TensorMemoryAtomColumns { actual, required, .. },
        ..
    } = problem
    else {
        return None;
    };
    let data = &kernel.tensor_memory[window.root];
    let columns = counted(*actual as usize, "column");
    let headline = format!("no instruction reads or writes {columns} of a block of 64 rows");
    let diagnostic = Diagnostic::new(Code::TensorMemory, at, headline)
        .compare("columns of 32 bits", format!("{required} or more"), actual.to_string())
        .place(data.loc, "allocated here")
        .why("a block of 64 rows uses every other group of 16 of the 128 rows; an instruction moves two ranges of columns of these at a time (PTX ISA, \"tcgen05.ld\": .16x32bx2)");
    // A part is as wide as its own extents say.
    let whole = tensor_memory::tile(data)[..] == window.shape[..];
    let made = if data.of.is_some() { ".view" } else { "tmem" };
    let mut shape = data.shape.clone();
    *shape.last_mut()? *= required / actual;
    Some(if whole && data.pinned.is_none() {
        diagnostic.help(format!("{made}::<{}>({shape:?})", data.dtype.name()))
    } else {
        diagnostic
    })
}

/// A window that no instruction takes to registers: elements neither fill the columns of 32 bits nor have one each.
fn not_accessed(kernel: &Kernel, window: &TensorMemoryType, at: Loc) -> Diagnostic {
    let form = tensor_memory::form(kernel, window.root);
    let in_word = (COLUMN_BITS / (window.dtype.bytes() * 8)).max(1);
    Diagnostic::new(
        Code::TensorMemory,
        at,
        "no instruction reads or writes tensor memory in this layout",
    )
    .compare(
        "elements in a column of 32 bits",
        format!("{in_word}, or 1"),
        format!("others, in {}", tensor_memory::in_words(&form)),
    )
    .place(kernel.tensor_memory[window.root].loc, "allocated here")
    .why("a register holds one column of one row, unchanged (PTX ISA, \"tcgen05.ld\")")
}

/// The products of a region whose operands in tensor memory are in layouts that no instruction has.
fn products(
    kernel: &Kernel,
    region: &Region,
    (rows, columns): (&left_factor::FirstRows, &Columns),
    found: &mut Vec<Diagnostic>,
) {
    for stmt in &region.stmts {
        if let StmtKind::Op {
            op: Op::Product(ProductOp::Tcgen05(Tcgen05::Mma { group, multiplied, .. })),
            args,
            ..
        } = &stmt.kind
        {
            let places = kernel.operands.get(&stmt.loc).copied().unwrap_or([stmt.loc; 3]);
            let of_sums = match group {
                CtaGroup::One => sums(kernel, args[2], places[2]),
                CtaGroup::Pair => sums_of_pair(kernel, args[2], places[2]),
            };
            let refused = [factor(kernel, args[0], places[0]), of_sums];
            if refused.iter().all(Option::is_none) {
                let apart = left_factor::apart(kernel, args, places, rows);
                found.extend(apart.or_else(|| columns.shared(kernel, args, places, rows)));
            }
            found.extend(refused.into_iter().flatten());
            match multiplied {
                Multiplied::Dense => {}
                Multiplied::Scaled(_) => found.extend(scales(kernel, (*group, args), places)),
                Multiplied::Sparse => {
                    found.extend(sparse::operands(kernel, (*group, args), places));
                }
            }
        }
        for inner in stmt.kind.regions() {
            products(kernel, inner, (rows, columns), found);
        }
    }
}

/// The layouts that a block-scaled product requires of its accumulator and scales.
fn scales(
    kernel: &Kernel,
    (group, args): (CtaGroup, &[Value]),
    places: [Loc; 3],
) -> Option<Diagnostic> {
    let Type::TensorMemory(sums) = kernel.ty(args[2]) else { return None };
    let Form::TensorMemory { block: [rows, columns], .. } =
        tensor_memory::product_form(kernel, sums.root)
    else {
        return None;
    };
    let place = kernel.tensor_memory[sums.root].loc;
    // `sums_of_pair` asks more of the accumulator of a pair.
    if group == CtaGroup::One && (rows != BLOCK_ROWS || columns < sums.shape[1].min(WARP_ROWS)) {
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
        let headline = "the scales of a product are in another layout";
        Some(
            Diagnostic::new(Code::DotOperand, kernel.tensor_memory[ty.root].loc, headline)
                .compare("layout", "that of scales, without `.with_layout(..)`", tensor_memory::in_words(&actual))
                .place(places[2], "multiplied here")
                .why("four scales along `k` share a column, 32 rows of the operand are 32 rows of tensor memory, and each warp has a copy (PTX ISA, \"tcgen05.mma: Scale factor layouts\")"),
        )
    })
}

/// Elements of a left operand fill the columns.
fn factor(kernel: &Kernel, operand: Value, at: Loc) -> Option<Diagnostic> {
    let Type::TensorMemory(ty) = kernel.ty(operand) else { return None };
    let form = tensor_memory::product_form(kernel, ty.root);
    let fits = matches!(form, Form::TensorMemory { col_stride: 1, two_ctas: false, .. });
    (!fits).then(|| no_factor(kernel, ty, at, &form))
}

/// Why a tile of tensor memory is not a left operand of a product.
fn no_factor(kernel: &Kernel, ty: &TensorMemoryType, at: Loc, actual: &Form) -> Diagnostic {
    let data = &kernel.tensor_memory[ty.root];
    let [rows, columns] = tensor_memory::tile(data);
    let new = |headline| {
        Diagnostic::new(Code::DotOperand, at, headline)
            .place(data.loc, "allocated here")
            .why("elements of a left operand fill the columns of 32 bits, in blocks of 64 or 128 rows (PTX ISA, \"tcgen05.mma: Data path layout\")")
    };
    let required = Form::TensorMemory {
        block: [rows.min(BLOCK_ROWS), columns.min(PRODUCT_COLUMNS)],
        col_stride: 1,
        two_ctas: false,
    };
    let other_use = match data.role {
        TensorMemoryRole::Sums => Some("the accumulator of another product"),
        TensorMemoryRole::Scales => Some("the scales of another product"),
        TensorMemoryRole::Metadata { .. } => Some("the metadata of another product"),
        TensorMemoryRole::Values => None,
    };
    match other_use.filter(|_| data.pinned.is_none()) {
        // The other product requires the layout that it has: the operand has memory of its own.
        Some(other_use) => new("two products need different layouts of this tensor memory")
            .compare("layout", tensor_memory::in_words(&required), format!("that of {other_use}"))
            .help(format!("tmem::<{}>({:?})", ty.dtype.name(), ty.shape)),
        None => new("no product has this layout in tensor memory")
            .compare(
                "layout",
                format!("tmem_block([64 or 128, 1 to {COLUMNS}], 1)"),
                tensor_memory::in_words(actual),
            )
            .help(required.in_code()),
    }
}

/// Each sum has a column of its own, and a block has the columns of one instruction.
fn sums(kernel: &Kernel, operand: Value, at: Loc) -> Option<Diagnostic> {
    let Type::TensorMemory(ty) = kernel.ty(operand) else { return None };
    let stride = (COLUMN_BITS / (ty.dtype.bytes() * 8)).max(1);
    let has_columns = |[rows, columns]: [u32; 2]| {
        let least = ty.shape[1].min(tensor_memory::least_product_columns(rows));
        (least..=PRODUCT_COLUMNS).contains(&columns)
    };
    let form = tensor_memory::product_form(kernel, ty.root);
    let fits = matches!(
        form,
        Form::TensorMemory { block, col_stride, two_ctas: false }
            if col_stride == stride && has_columns(block)
    );
    (!fits).then(|| no_sums(kernel, ty, at, stride))
}

/// Half of a pair's accumulator is in one block: of 64 rows in the layout of pairs, of 128 in that of single blocks, which is the same.
fn sums_of_pair(kernel: &Kernel, operand: Value, at: Loc) -> Option<Diagnostic> {
    let Type::TensorMemory(ty) = kernel.ty(operand) else { return None };
    let data = &kernel.tensor_memory[ty.root];
    let stride = (COLUMN_BITS / (ty.dtype.bytes() * 8)).max(1);
    let actual = tensor_memory::product_form(kernel, ty.root);
    if let Form::TensorMemory { block, col_stride, two_ctas } = actual
        && col_stride == stride
    {
        // A part of a wider block has its columns contiguous as well, if it has all rows; of 64 rows they are in two halves.
        let whole = match (block[0], two_ctas) {
            (BLOCK_ROWS, _) => block[0] == ty.shape[0] && block[1] >= ty.shape[1],
            (_, two_ctas) => two_ctas && block[..] == ty.shape[..],
        };
        if whole {
            return None;
        }
    }
    let block = [ty.shape[0], ty.shape[1]];
    let diagnostic = Diagnostic::new(Code::DotOperand, at, "no product of a pair has this layout in tensor memory")
        .place(data.loc, "allocated here")
        .why("one instruction computes the whole product of a pair; with 64 rows in each block, the right half of the columns is in rows 64 to 127 (PTX ISA, \"tcgen05.mma: Data path layout\")");
    let written = Form::TensorMemory { block, col_stride: stride, two_ctas: false };
    Some(if block[0] == BLOCK_ROWS {
        // The product requires blocks of its extents, whether the tile has one of them or several.
        let help = if data.pinned.is_some() {
            written.in_code()
        } else {
            format!(".with_layout({})", written.in_code())
        };
        diagnostic
            .compare("layout", tensor_memory::in_words(&written), tensor_memory::in_words(&actual))
            .help(help)
    } else {
        let required = Form::TensorMemory { block, col_stride: stride, two_ctas: true };
        let required =
            format!("{}, without `.with_layout(..)`", tensor_memory::in_words(&required));
        let diagnostic = diagnostic.compare("layout", required, tensor_memory::in_words(&actual));
        if tensor_memory::tile(data) == block {
            diagnostic.help(format!("tmem::<{}>({:?})", ty.dtype.name(), data.shape))
        } else {
            diagnostic
        }
    })
}

/// Why a tile of tensor memory is not an accumulator of a product, whose columns are this far apart.
fn no_sums(kernel: &Kernel, ty: &TensorMemoryType, at: Loc, stride: u32) -> Diagnostic {
    let actual = tensor_memory::form(kernel, ty.root);
    let [rows, columns] = [ty.shape[0].min(BLOCK_ROWS), ty.shape[1].min(PRODUCT_COLUMNS)];
    let of_rows = |rows: u32| {
        let least = tensor_memory::least_product_columns(rows);
        let fits = rows <= ty.shape[0] && least <= ty.shape[1];
        fits.then(|| format!("tmem_block([{rows}, {least} to {PRODUCT_COLUMNS}], {stride})"))
    };
    let required = [LEAST_ROWS, BLOCK_ROWS].into_iter().filter_map(of_rows).collect::<Vec<_>>();
    let required = required.join(" or ");
    // Of 128 rows, 8 columns are those of blocks of 64.
    let block = [
        if columns < tensor_memory::least_product_columns(rows) { LEAST_ROWS } else { rows },
        columns,
    ];
    Diagnostic::new(Code::DotOperand, at, "no product has this layout in tensor memory")
        .compare("layout", required, tensor_memory::in_words(&actual))
        .place(kernel.tensor_memory[ty.root].loc, "allocated here")
        .why("an instruction has 64 rows and 8 to 256 columns, or 128 rows and 16 to 256 columns; each element of the accumulator has a column of 32 bits (PTX ISA, \"tcgen05.mma: Matrix shape\", \"Data path layout\")")
        .help(format!("tmem_block({block:?}, {stride})"))
}
