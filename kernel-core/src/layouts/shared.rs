//! Layouts of shared allocations, from what is read and written.

use kernel_layout::forms::{row_major_shared, swizzled_shared};
use kernel_layout::{Dim, Layout, bank_conflicts, max_vector};
use la_arena::ArenaMap;

use super::{Access, Known, LayoutProblem, analyze, mma_warps};
use crate::ir::{Kernel, Layouts, Op, Region, Shared, SharedType, StmtKind, Type, Value};

/// Bytes that every bank of shared memory serves once.
const LINE_BYTES: u32 = 128;
/// What swizzles keep together, in bytes: a row of `ldmatrix`, and the longest access of a thread.
const CHUNK_BYTES: u32 = 16;
/// Elements of this size pass through `ldmatrix`, along rows and columns.
const MATRIX_ELEMENT_BYTES: u32 = 2;
/// Elements of this size pass through `ldmatrix` where the depth of the product is what lies side by side.
const PAIRED_ELEMENT_BYTES: u32 = 1;

/// Pinned layouts of shared allocations that are not possible.
pub(super) fn check_pinned(kernel: &Kernel) -> Vec<LayoutProblem> {
    let uses = collect(kernel, &Layouts::default(), &Known::default());
    let mut problems = Vec::new();
    for (root, data) in kernel.shared.iter() {
        let Some(form) = &data.pinned else { continue };
        let shape = tile_shape(kernel, root, &uses);
        match form.to_layout(&shape) {
            Err(error) => {
                problems.push(LayoutProblem::Form {
                    at: data.loc,
                    form: form.clone(),
                    shape,
                    error,
                });
            }
            Ok(layout) if !layout.has_in(Dim::Offset) => {
                problems.push(LayoutProblem::NotShared { at: data.loc, form: form.clone() });
            }
            Ok(layout) if layout.in_size(Dim::Block) > 1 => {
                let actual = layout.in_size(Dim::Block);
                problems.push(LayoutProblem::Cluster { at: data.loc, form: form.clone(), actual });
            }
            Ok(_) => {}
        }
    }
    problems
}

/// The layouts of all allocations of a kernel whose tiles have layouts.
pub(super) fn choose(kernel: &Kernel, layouts: &Layouts) -> ArenaMap<Shared, Layout> {
    let uses = collect(kernel, layouts, &analyze(kernel));
    let mut chosen = ArenaMap::default();
    for (root, data) in kernel.shared.iter() {
        let shape = tile_shape(kernel, root, &uses);
        let layout = match &data.pinned {
            Some(form) => form.to_layout(&shape).expect("check_pinned has seen this form"),
            None => best(&shape, data.dtype.bytes(), uses.get(root).map_or(&[], Vec::as_slice)),
        };
        chosen.insert(root, layout);
    }
    chosen
}

/// An access to a window of an allocation.
#[derive(Debug)]
struct Use {
    /// Axes of the window.
    rank: usize,
    how: How,
}

#[derive(Debug)]
enum How {
    /// Registers read or write the window; the layout is that of the tile in the order of the allocation.
    Registers(Layout),
    /// `ldmatrix` reads the window.
    Matrix,
    /// A copy from global memory, where this axis of the allocation's tile is the contiguous one.
    Copy(Option<u32>),
}

type Uses = ArenaMap<Shared, Vec<Use>>;

/// Extents of what the layout covers: the last two axes, or the last one where windows of rank 1 are accessed.
fn tile_shape(kernel: &Kernel, root: Shared, uses: &Uses) -> Vec<u32> {
    let shape = &kernel.shared[root].shape;
    let least = uses.get(root).and_then(|uses| uses.iter().map(|one| one.rank).min());
    let rank = least.unwrap_or(2).min(2).min(shape.len());
    shape[shape.len() - rank..].to_vec()
}

fn collect(kernel: &Kernel, layouts: &Layouts, known: &Known) -> Uses {
    let mut uses = Uses::default();
    let (mut matrices, mut conversions) = (ArenaMap::default(), Vec::new());
    find_matrices(kernel, layouts, &kernel.body, &mut matrices, &mut conversions);
    for (from, to) in conversions.into_iter().rev() {
        if let Some(&depth) = matrices.get(to) {
            matrices.insert(from, depth);
        }
    }
    collect_region(kernel, layouts, known, &matrices, &kernel.body, &mut uses);
    uses
}

fn regions(kind: &StmtKind) -> Vec<&Region> {
    match kind {
        StmtKind::Op { .. } | StmtKind::Reduce { .. } => Vec::new(),
        StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
        StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => vec![body],
    }
}

/// Operands of `mma.sync` with the axis that is the depth of the product, and what is only converted to become one. Conversions
/// are listed in the order of the program.
fn find_matrices(
    kernel: &Kernel,
    layouts: &Layouts,
    region: &Region,
    matrices: &mut ArenaMap<Value, u32>,
    conversions: &mut Vec<(Value, Value)>,
) {
    for stmt in &region.stmts {
        match &stmt.kind {
            StmtKind::Op { op: Op::Dot { .. }, args, result: Some(result) } => {
                let layout = layouts.get(*result);
                if layout.is_some_and(|layout| mma_warps(layout, kernel.warps).is_some()) {
                    matrices.extend([(args[0], 1), (args[1], 0)]);
                }
            }
            StmtKind::Op { op: Op::ToLayout(_), args, result: Some(result) } => {
                conversions.push((args[0], *result));
            }
            StmtKind::Op { .. }
            | StmtKind::If { .. }
            | StmtKind::For { .. }
            | StmtKind::Loop { .. }
            | StmtKind::Reduce { .. } => {}
        }
        for region in regions(&stmt.kind) {
            find_matrices(kernel, layouts, region, matrices, conversions);
        }
    }
}

fn collect_region(
    kernel: &Kernel,
    layouts: &Layouts,
    known: &Known,
    matrices: &ArenaMap<Value, u32>,
    region: &Region,
    uses: &mut Uses,
) {
    for stmt in &region.stmts {
        for region in regions(&stmt.kind) {
            collect_region(kernel, layouts, known, matrices, region, uses);
        }
        let StmtKind::Op { op, args, result } = &stmt.kind else { continue };
        let (window, how) = match (op, args.as_slice(), result) {
            (Op::LoadShared, [window], Some(tile)) => {
                let window = window_of(kernel, *window);
                let matrix = matrices.get(*tile).is_some_and(|&depth| {
                    let size = window.dtype.bytes();
                    let along_rows = (depth == 1) != window.transposed;
                    size == MATRIX_ELEMENT_BYTES || size == PAIRED_ELEMENT_BYTES && along_rows
                });
                (
                    window,
                    if matrix { Some(How::Matrix) } else { registers(window, layouts.get(*tile)) },
                )
            }
            (Op::StoreShared, [window, tile], None) => {
                let window = window_of(kernel, *window);
                (window, registers(window, layouts.get(*tile)))
            }
            (Op::CopyAsync(_), [.., window], None) => {
                let window = window_of(kernel, *window);
                (window, Some(How::Copy(contiguous(window, known.access(kernel, op, args)))))
            }
            _ => continue,
        };
        let how = how.unwrap_or(How::Copy(None));
        uses.entry(window.root).or_default().push(Use { rank: window.shape.len(), how });
    }
}

fn window_of(kernel: &Kernel, value: Value) -> &SharedType {
    match kernel.ty(value) {
        Type::Shared(window) => window,
        Type::Scalar(_) | Type::Tile(..) | Type::Error => {
            unreachable!("ir::verify wants shared memory here")
        }
    }
}

/// A tile in registers, in the order of the allocation's axes; none for windows of other ranks than the layout's tile.
fn registers(window: &SharedType, layout: Option<&Layout>) -> Option<How> {
    let layout = layout.filter(|_| window.shape.len() <= 2)?;
    let layout = if window.transposed { layout.permute_axes(&[1, 0]) } else { layout.clone() };
    Some(How::Registers(layout))
}

/// The axis of the allocation's tile that is contiguous in global memory, if a copy moves several elements along it.
fn contiguous(window: &SharedType, access: Option<Access>) -> Option<u32> {
    let access = access.filter(|access| access.elements > 1)?;
    let leading = u32::try_from(window.shape.len().saturating_sub(2)).expect("a rank is small");
    let axis = access.axis.checked_sub(leading)?;
    Some(if window.transposed { 1 - axis } else { axis })
}

/// The best layout of one tile.
fn best(shape: &[u32], element_bytes: u32, uses: &[Use]) -> Layout {
    let plain =
        || row_major_shared(shape).expect("ir::verify wants extents that are powers of two");
    if shape.len() < 2 {
        return plain();
    }
    let copied = uses.iter().find_map(|one| match one.how {
        How::Copy(axis) => axis,
        How::Registers(_) | How::Matrix => None,
    });
    if uses.iter().any(|one| matches!(one.how, How::Matrix)) {
        return swizzled(shape, element_bytes, CHUNK_BYTES, copied.unwrap_or(1));
    }
    let orders = copied.map_or_else(|| vec![1, 0], |axis| vec![axis]);
    let mut candidates = Vec::new();
    for fastest in orders {
        // No swizzle first: a swizzle has to be worth it.
        for chunk_bytes in [0, CHUNK_BYTES, 2 * CHUNK_BYTES] {
            candidates.push(swizzled(shape, element_bytes, chunk_bytes, fastest));
        }
    }
    let cost =
        |layout: &Layout| uses.iter().map(|one| cost(&one.how, layout, element_bytes)).sum::<u32>();
    candidates.into_iter().min_by_key(cost).unwrap_or_else(plain)
}

/// Rows along the axis `fastest`, chunks of which are exchanged from row to row so that equal chunks of neighbouring rows lie in
/// different banks; 0 for no exchange.
fn swizzled(shape: &[u32], element_bytes: u32, chunk_bytes: u32, fastest: u32) -> Layout {
    let row_bytes = shape[fastest as usize] * element_bytes;
    // Rows that together fill all banks are alike, and after as many phases as there are chunks the banks repeat.
    let per_phase = (LINE_BYTES / row_bytes).max(1);
    let max_phase = row_bytes.min(LINE_BYTES).checked_div(chunk_bytes).unwrap_or(1).max(1);
    // With a single chunk in a row there is nothing to exchange, and a row may be shorter than a chunk.
    let (vec, per_phase) =
        if max_phase == 1 { (1, 1) } else { ((chunk_bytes / element_bytes).max(1), per_phase) };
    swizzled_shared(vec, per_phase, max_phase, &[fastest, 1 - fastest], shape)
        .expect("ir::verify wants extents that are powers of two")
}

/// The instructions and extra passes that an access takes.
fn cost(how: &How, shared: &Layout, element_bytes: u32) -> u32 {
    match how {
        How::Registers(registers) => {
            let vector = max_vector(registers, shared).min(CHUNK_BYTES / element_bytes);
            let accesses = registers.in_size(Dim::Register).div_ceil(vector);
            let passes = (vector * element_bytes * 32).div_ceil(LINE_BYTES);
            accesses * (passes + bank_conflicts(registers, shared, element_bytes, vector))
                + accesses
        }
        How::Matrix | How::Copy(_) => 0,
    }
}
