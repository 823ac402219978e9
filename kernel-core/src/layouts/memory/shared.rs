//! Layouts of shared allocations, from their reads and writes.

use kernel_layout::forms::{
    default_swizzle_bytes, nvmma_shared, row_major_shared, swizzled_shared,
};
use kernel_layout::{Dim, Form, Layout, Visit, cheapest, meeting};
use la_arena::ArenaMap;

use super::views::over_tile;
use crate::ir::{
    Bulk, Copied, CopyOp, Extents, Kernel, Layouts, MemoryOp, Op, ParamKind, ProductOp, Region,
    Shared, SharedType, StmtKind, Tcgen05, TileOp, Type, Value,
};
use crate::layouts::{Access, Known, LayoutProblem, Memory, Place, analyze, copied, mma_warps};
use crate::loc::Loc;

/// Tiles of an allocation start at multiples of this many bytes.
pub(crate) const TILE_BYTES: u32 = 128;
/// Bytes that every bank of shared memory serves once.
const LINE_BYTES: u32 = 128;
/// What swizzles keep together, in bytes: a row of `ldmatrix`, and the longest access of a thread.
const CHUNK_BYTES: u32 = 16;
/// The fewest bytes that `cp.async` copies (PTX ISA, "cp.async").
pub(crate) const LEAST_COPY_BYTES: u32 = 4;
/// How many iterations a loop is taken to have.
const ITERATIONS: u32 = 8;
/// No access counts more: what is nested deeper decides anyway.
const MOST_TIMES: u32 = 512;
/// Elements of this size pass through `ldmatrix`, along rows and columns.
const MATRIX_ELEMENT_BYTES: u32 = 2;
/// Elements of this size pass through `ldmatrix` if they are contiguous along `k`.
const PAIRED_ELEMENT_BYTES: u32 = 1;

/// Pinned layouts of shared allocations that are not possible.
pub(crate) fn check_pinned(kernel: &Kernel) -> Vec<LayoutProblem> {
    let uses = collect(kernel, &Layouts::default(), &Known::default());
    let widest = widest_views(kernel);
    let mut problems = Vec::new();
    for (root, data) in kernel.shared.iter() {
        let Some(form) = &data.pinned else { continue };
        let shape = tile_shape(kernel, root, &uses);
        let size = data.dtype.shared_bytes();
        match pinned(form, data.loc, shape, size) {
            Ok(layout) => {
                let wider = widest.get(root).filter(|wider| !keeps(&layout, wider.bytes / size));
                problems.extend(wider.map(|wider| LayoutProblem::Apart {
                    at: data.loc,
                    form: form.clone(),
                    view_at: wider.at,
                    bytes: wider.bytes,
                }));
            }
            Err(problem) => problems.push(*problem),
        }
    }
    problems
}

/// The layout that a user pinned an allocation of shared memory to; the extents are those of one tile.
///
/// # Errors
/// With what is wrong with it.
pub(crate) fn pinned(
    form: &Form,
    at: Loc,
    shape: Vec<u32>,
    element_bytes: u32,
) -> Result<Layout, Box<LayoutProblem>> {
    let place = Place { memory: Memory::Shared, shape, element_bytes, warps: 1 };
    let layout = place.layout(form, at)?;
    let actual = layout.in_size(Dim::Block);
    if actual > 1 {
        return Err(Box::new(LayoutProblem::Cluster { at, form: form.clone(), actual }));
    }
    Ok(layout)
}

/// The layouts of all allocations of a kernel whose tiles have layouts.
pub(crate) fn choose(kernel: &Kernel, layouts: &Layouts) -> ArenaMap<Shared, Layout> {
    let uses = collect(kernel, layouts, &analyze(kernel));
    let mut chosen = ArenaMap::default();
    let widest = widest_views(kernel);
    for (root, data) in kernel.shared.iter() {
        let shape = tile_shape(kernel, root, &uses);
        let layout = if let Some(form) = &data.pinned {
            form.to_layout(&shape).expect("check_pinned has seen this form")
        } else {
            let uses = uses.get(root).map_or(&[][..], Vec::as_slice);
            let size = data.dtype.shared_bytes();
            let together = widest.get(root).map_or(1, |wider| wider.bytes / size);
            best(&shape, size, uses, together)
        };
        chosen.insert(root, layout);
    }
    chosen
}

/// The widest elements that an allocation is viewed as, if they are wider than its own.
#[derive(Clone, Copy)]
struct Wider {
    bytes: u32,
    /// The view.
    at: Loc,
}

fn widest_views(kernel: &Kernel) -> ArenaMap<Shared, Wider> {
    let mut found = ArenaMap::<Shared, Wider>::default();
    for (_, data) in kernel.values.iter() {
        let Some(window) = data.ty.shared() else { continue };
        let bytes = window.dtype.shared_bytes();
        let own = kernel.shared[window.root].dtype.shared_bytes();
        if bytes > found.get(window.root).map_or(own, |found| found.bytes) {
            found.insert(window.root, Wider { bytes, at: data.loc });
        }
    }
    found
}

/// Whether a layout keeps so many neighbours of a row together, in their order.
fn keeps(layout: &Layout, together: u32) -> bool {
    let bases = layout.bases(Dim::Offset);
    let within = together.trailing_zeros() as usize;
    let last = layout.outs().len() - 1;
    let first = bases.iter().take(within).zip(0..).all(|(basis, bit)| {
        basis.iter().enumerate().all(|(axis, &at)| at == if axis == last { 1 << bit } else { 0 })
    });
    bases.len() >= within
        && first
        && bases.iter().skip(within).all(|basis| basis[last].is_multiple_of(together))
}

/// An access to a window of an allocation.
#[derive(Debug)]
struct Use {
    /// Axes of the window.
    rank: usize,
    /// How often it runs, as a guess from the loops around it.
    times: u32,
    how: How,
}

#[derive(Debug)]
enum How {
    /// Registers read or write the window; the layout is that of the tile in the order of the allocation.
    Registers(Layout),
    /// `ldmatrix` reads the window.
    Matrix,
    /// A copy from global memory, several elements at a time.
    Copy {
        /// What each thread copies, in the order of the allocation.
        registers: Layout,
        /// The axis of the allocation's tile along which memory is contiguous.
        axis: u32,
        /// The elements that one instruction copies.
        elements: u32,
    },
    /// A TMA copy, or a `wgmma` product.
    Boxes {
        /// Neighbours are along the last axis but one of the tensor.
        turned: bool,
        /// The swizzle that is declared of the map.
        swizzle_bytes: Option<u32>,
    },
    /// A copy to tensor memory that reads this layout.
    Exactly(Layout),
    /// A copy of bytes in a row.
    Row,
    /// An access that does not decide.
    Any,
}

impl How {
    /// A `wgmma` product.
    const PRODUCT: How = How::Boxes { turned: false, swizzle_bytes: None };
}

type Uses = ArenaMap<Shared, Vec<Use>>;

/// Extents of what the layout covers: the last two axes, or the last one if windows of rank 1 are accessed.
fn tile_shape(kernel: &Kernel, root: Shared, uses: &Uses) -> Vec<u32> {
    let shape = &kernel.shared[root].shape;
    let least = uses.get(root).and_then(|uses| uses.iter().map(|one| one.rank).min());
    let rank = least.unwrap_or(2).min(2).min(shape.len());
    shape[shape.len() - rank..].to_vec()
}

fn collect(kernel: &Kernel, layouts: &Layouts, known: &Known) -> Uses {
    let mut uses = Uses::default();
    let (mut matrices, mut conversions) = (ArenaMap::default(), Vec::new());
    find_matrices(layouts, &kernel.body, &mut matrices, &mut conversions);
    for (from, to) in conversions.into_iter().rev() {
        if let Some(&depth) = matrices.get(to) {
            matrices.insert(from, depth);
        }
    }
    let warps = kernel.warps;
    let collector = Collector { kernel, layouts, known, matrices: &matrices, warps };
    collector.region(&kernel.body, 1, &mut uses);
    uses
}

/// Operands of `mma.sync` with the axis that is the depth of the product, and what is only converted to become one. Conversions
/// are listed in the order of the program.
fn find_matrices(
    layouts: &Layouts,
    region: &Region,
    matrices: &mut ArenaMap<Value, u32>,
    conversions: &mut Vec<(Value, Value)>,
) {
    region.each_op(&mut |op, args, result, _| {
        let Some(result) = result else { return };
        if let Op::Product(ProductOp::Dot(_)) = op {
            let layout = layouts.get(result);
            let of_product = |layout: &Layout| mma_warps(layout, layout.in_size(Dim::Warp));
            if layout.is_some_and(|layout| of_product(layout).is_some()) {
                matrices.extend([(args[0], 1), (args[1], 0)]);
            }
        } else if let Op::Tile(TileOp::ToLayout(_)) = op {
            conversions.push((args[0], result));
        }
    });
}

/// The bytes from one tile of a ring to the next.
pub(crate) fn tile_bytes(layout: &Layout, element_bytes: u32) -> u32 {
    (layout.in_size(Dim::Offset) * element_bytes).next_multiple_of(TILE_BYTES)
}

/// The layout of several tiles: the axes of `shape` before those of the tile repeat it, row-major.
pub(crate) fn tiles(tile: &Layout, shape: &[u32], element_bytes: u32) -> Layout {
    let leading = shape.len() - tile.outs().len();
    let padding = tile_bytes(tile, element_bytes) / element_bytes / tile.in_size(Dim::Offset);
    let mut bases: Vec<Vec<u32>> = tile
        .bases(Dim::Offset)
        .iter()
        .map(|basis| [vec![0; leading], basis.clone()].concat())
        .collect();
    bases.extend((0..padding.trailing_zeros()).map(|_| vec![0; shape.len()]));
    for axis in (0..leading).rev() {
        for bit in 0..shape[axis].trailing_zeros() {
            let mut basis = vec![0; shape.len()];
            basis[axis] = 1 << bit;
            bases.push(basis);
        }
    }
    let outs = shape.iter().enumerate().map(|(axis, &extent)| (Dim::axis(axis), extent)).collect();
    Layout::new(vec![(Dim::Offset, bases)], outs).expect("a ring of tiles is a layout")
}

/// The layout of a window that is a whole tile, or several; none for a part of one.
pub(crate) fn whole_window(tile: &Layout, shape: &[u32], element_bytes: u32) -> Option<Layout> {
    let leading = shape.len().checked_sub(tile.outs().len())?;
    if tile.shape() != shape[leading..] {
        return None;
    }
    Some(if leading == 0 { tile.clone() } else { tiles(tile, shape, element_bytes) })
}

/// What it takes to say how a statement uses shared memory.
struct Collector<'a> {
    kernel: &'a Kernel,
    layouts: &'a Layouts,
    known: &'a Known,
    matrices: &'a ArenaMap<Value, u32>,
    /// The warps that run the statements.
    warps: u32,
}

impl Collector<'_> {
    fn region(&self, region: &Region, times: u32, uses: &mut Uses) {
        for stmt in &region.stmts {
            let looped = (times * ITERATIONS).min(MOST_TIMES);
            let inner = if stmt.kind.is_loop() { looped } else { times };
            for (region, warps) in stmt.kind.regions_with_warps(self.warps) {
                Collector { warps, ..*self }.region(region, inner, uses);
            }
            let StmtKind::Op { op, args, result } = &stmt.kind else { continue };
            if let Some(left) = self.left(op, args) {
                let (rank, how) = (self.rank(left), How::PRODUCT);
                uses.entry(left.root).or_default().push(Use { rank, times, how });
            }
            if let Op::Copy(CopyOp::Bulk(bulk)) = op {
                self.bulk(*bulk, args, times, uses);
            }
            let Some((window, how)) = self.how(op, args, *result) else { continue };
            let rank = self.rank(window);
            uses.entry(window.root).or_default().push(Use { rank, times, how });
        }
    }

    /// The axes of a window; a view has those of its allocation, whose tiles need not be its own.
    fn rank(&self, window: &SharedType) -> usize {
        if window.is_plain() {
            window.shape.len()
        } else {
            self.kernel.shared[window.root].shape.len()
        }
    }

    /// A tile in registers, in the order of the allocation's axes.
    fn registers(&self, window: &SharedType, layout: Option<&Layout>) -> How {
        if window.is_plain() && window.shape.len() <= 2 {
            return registers(window, layout);
        }
        let data = &self.kernel.shared[window.root];
        let over_tile = |layout| over_tile(layout, window, data);
        layout.and_then(over_tile).map_or(How::Any, How::Registers)
    }

    /// The window that an operation reads or writes, and how.
    fn how(&self, op: &Op, args: &[Value], result: Option<Value>) -> Option<(&SharedType, How)> {
        match (op, args, result) {
            (Op::Memory(MemoryOp::LoadShared), [window], Some(tile)) => {
                let window = window_of(self.kernel, *window);
                let own = self.matrices.get(tile).filter(|_| !window.remote);
                let matrix = own.is_some_and(|&depth| {
                    let size = window.dtype.bytes();
                    let along_rows = window.runs_along(depth as usize);
                    size == MATRIX_ELEMENT_BYTES || size == PAIRED_ELEMENT_BYTES && along_rows
                });
                let how = if matrix {
                    How::Matrix
                } else {
                    self.registers(window, self.layouts.get(tile))
                };
                Some((window, how))
            }
            (Op::Memory(MemoryOp::StoreShared), [window, tile], None)
            | (Op::Copy(CopyOp::StoreAsync), [window, tile, _], None) => {
                let window = window_of(self.kernel, *window);
                Some((window, self.registers(window, self.layouts.get(*tile))))
            }
            // Which elements a thread reads or writes is known only when the kernel runs.
            (
                Op::Memory(
                    MemoryOp::GatherShared | MemoryOp::ScatterShared | MemoryOp::AtomicShared(_),
                ),
                [window, ..],
                _,
            ) => Some((window_of(self.kernel, *window), How::Any)),
            (Op::Copy(CopyOp::Async(copied, _)), [.., window], None) => {
                let window = window_of(self.kernel, *window);
                if !window.is_plain() || window.shape.len() > 2 {
                    return Some((window, self.copy_to_view(window, *copied, op, args)));
                }
                let access = self.known.access(self.kernel, op, args);
                let how = match copied {
                    Copied::Tile { extents, .. } => copy(window, *extents, access, self.warps),
                    Copied::Addresses { .. } => self.layouts.get(args[0]).and_then(|layout| {
                        let registers = in_order(window, layout.reshape(&window.shape));
                        let extents = Extents::of(self.kernel.ty(args[0]).shape());
                        copied_as(window, extents, access, registers)
                    }),
                };
                Some((window, how.unwrap_or(How::Any)))
            }
            (Op::Copy(CopyOp::Tma(tma)), args, None) => {
                let ParamKind::Tensor { rank, .. } = self.kernel.params[tma.param as usize].kind
                else {
                    return None;
                };
                let window = tma.operands(rank as usize, args).window?;
                let window = window_of(self.kernel, window);
                let contiguous = crate::layouts::tma::contiguous_axis(self.kernel, tma.param);
                let block = Extents::of(&self.kernel.tma_block(*tma, &window.shape));
                let contiguous = contiguous.and_then(|axis| u32::try_from(axis).ok());
                let contiguous = contiguous.and_then(|axis| axis_in(block, axis, &window.shape));
                let turned = contiguous.is_some_and(|axis| axis as usize + 2 == window.shape.len());
                let swizzle_bytes = self.kernel.params[tma.param as usize].map.swizzle_bytes;
                Some((window, How::Boxes { turned, swizzle_bytes }))
            }
            (Op::Product(ProductOp::Wgmma { .. }), [_, right, ..], Some(_))
            | (Op::Product(ProductOp::Tcgen05(Tcgen05::Mma { .. })), [_, right, ..], None) => {
                Some((window_of(self.kernel, *right), How::PRODUCT))
            }
            (Op::Product(ProductOp::Tcgen05(Tcgen05::Copy { .. })), [from, to, ..], None) => {
                let from = window_of(self.kernel, *from);
                let Type::TensorMemory(to) = self.kernel.ty(*to) else { return None };
                let exactly = crate::layouts::tensor_copy::source(self.kernel, from, to);
                Some((from, exactly.map_or(How::PRODUCT, How::Exactly)))
            }
            _ => None,
        }
    }

    /// How a copy of the threads writes a view: along the rows of the allocation, if neighbours in memory are neighbours there.
    fn copy_to_view(&self, window: &SharedType, what: Copied, op: &Op, args: &[Value]) -> How {
        let data = &self.kernel.shared[window.root];
        let (extents, layout) = match what {
            Copied::Tile { extents, .. } => (extents, None),
            Copied::Addresses { .. } => {
                (Extents::of(self.kernel.ty(args[0]).shape()), self.layouts.get(args[0]).cloned())
            }
        };
        let access = self.known.access(self.kernel, op, args);
        let run = access.and_then(|access| {
            let axis = axis_in(extents, access.axis, &window.shape)?;
            let along_rows = access.elements > 1 && window.runs_along(axis as usize);
            along_rows.then(|| (access, access.elements.min(window.shape[axis as usize])))
        });
        let Some((access, elements)) = run else { return How::Any };
        let layout = layout.unwrap_or_else(|| {
            let elements = elements.min(extents.shape()[access.axis as usize]);
            copied(extents.shape(), access.axis as usize, elements, self.warps)
        });
        let registers = over_tile(&layout.reshape(&window.shape), window, data);
        let Some(registers) = registers else { return How::Any };
        let last = u32::try_from(registers.outs().len() - 1).expect("a rank is small");
        How::Copy { registers, axis: last, elements }
    }

    /// The windows that a bulk copy fills and reads.
    fn bulk(&self, bulk: Bulk, args: &[Value], times: u32, uses: &mut Uses) {
        let operands = bulk.operands(args);
        let ends = [operands.reads(bulk.kind), operands.fills(bulk.kind)];
        let windows: Vec<&SharedType> =
            ends.into_iter().flatten().map(|window| window_of(self.kernel, window)).collect();
        // An allocation of another block is laid out as this one's own.
        let alike = matches!(windows[..], [from, to] if from.root == to.root);
        for window in windows {
            let how = if alike { How::Any } else { How::Row };
            let rank = self.rank(window);
            uses.entry(window.root).or_default().push(Use { rank, times, how });
        }
    }

    /// The left operand of a `wgmma` product, if it is in shared memory.
    fn left(&self, op: &Op, args: &[Value]) -> Option<&SharedType> {
        match (op, args) {
            (
                Op::Product(ProductOp::Wgmma { .. } | ProductOp::Tcgen05(Tcgen05::Mma { .. })),
                [left, ..],
            ) if matches!(self.kernel.ty(*left), Type::Shared(_)) => {
                Some(window_of(self.kernel, *left))
            }
            _ => None,
        }
    }
}

pub(crate) fn window_of(kernel: &Kernel, value: Value) -> &SharedType {
    kernel.ty(value).shared().expect("ir::verify requires shared memory here")
}

/// A tile in registers, in the order of the allocation's axes.
fn registers(window: &SharedType, layout: Option<&Layout>) -> How {
    layout.map_or(How::Any, |layout| How::Registers(in_order(window, layout.clone())))
}

/// A layout of the window's tile, in the order of the allocation's axes.
fn in_order(window: &SharedType, layout: Layout) -> Layout {
    if window.transposed { layout.permute_axes(&[1, 0]) } else { layout }
}

/// The axis of a window along which neighbours are neighbours along an axis of the tile that is copied to it; none if they are apart in it.
pub(crate) fn axis_in(tile: Extents, axis: u32, window: &[u32]) -> Option<u32> {
    if tile.shape() == window {
        return Some(axis);
    }
    let step = |shape: &[u32], axis: usize| shape[axis + 1..].iter().product::<u32>();
    let along = step(tile.shape(), axis as usize);
    // An axis of extent 1 has no neighbours.
    let same = |other: &usize| window[*other] > 1 && step(window, *other) == along;
    let found = (0..window.len()).find(same)?;
    u32::try_from(found).ok()
}

/// How a copy writes a tile: several elements at once as they are in global memory, or, if elements are too small for `cp.async`
/// each by itself, as registers do that hold them. Larger ones that are copied one at a time do not decide.
fn copy(window: &SharedType, extents: Extents, access: Option<Access>, warps: u32) -> Option<How> {
    let (tile, shape) = (extents.shape(), &window.shape);
    let held = |axis: usize, elements: u32| {
        in_order(window, copied(tile, axis, elements, warps).reshape(shape))
    };
    let Some(Access { axis, elements }) = access.filter(|access| access.elements > 1) else {
        if window.dtype.bytes() >= LEAST_COPY_BYTES {
            return None;
        }
        return Some(How::Registers(held(tile.len().checked_sub(1)?, 1)));
    };
    let elements = elements.min(tile[axis as usize]);
    let registers = held(axis as usize, elements);
    copied_as(window, extents, Some(Access { axis, elements }), registers)
}

/// How a copy writes a tile of which the threads hold `registers`, several elements at once if it can.
fn copied_as(
    window: &SharedType,
    extents: Extents,
    access: Option<Access>,
    registers: Layout,
) -> Option<How> {
    let Some(Access { axis, elements }) = access.filter(|access| access.elements > 1) else {
        return Some(How::Registers(registers));
    };
    let axis = axis_in(extents, axis, &window.shape)?;
    let elements = elements.min(window.shape[axis as usize]);
    let axis = if window.transposed { 1 - axis } else { axis };
    Some(How::Copy { registers, axis, elements })
}

/// The best layout of one tile that keeps so many neighbours of a row together.
fn best(shape: &[u32], element_bytes: u32, uses: &[Use], together: u32) -> Layout {
    let plain =
        || row_major_shared(shape).expect("ir::verify requires extents that are powers of two");
    if shape.len() < 2 {
        return plain();
    }
    if uses.iter().any(|one| matches!(one.how, How::Row)) {
        return plain();
    }
    let boxes = uses.iter().filter_map(|one| {
        let How::Boxes { turned, swizzle_bytes } = one.how else { return None };
        Some((turned, swizzle_bytes))
    });
    let both = |(turned, swizzle): (bool, Option<u32>), (next_turned, next_swizzle)| {
        (turned | next_turned, swizzle.or(next_swizzle))
    };
    if let Some((turned, declared)) = boxes.reduce(both) {
        let boxed = described(shape, element_bytes, turned, declared);
        return boxed.filter(|layout| keeps(layout, together)).unwrap_or_else(plain);
    }
    let exact = uses
        .iter()
        .find_map(|one| if let How::Exactly(layout) = &one.how { Some(layout) } else { None });
    let exact = exact.filter(|layout| layout.shape() == shape && keeps(layout, together));
    if let Some(layout) = exact {
        return layout.clone();
    }
    let copied = uses
        .iter()
        .find_map(|one| if let How::Copy { axis, .. } = one.how { Some(axis) } else { None });
    let matrices = uses.iter().any(|one| matches!(one.how, How::Matrix));
    let axes = match copied {
        Some(axis) => vec![axis],
        // Rows of `ldmatrix` are along the last axis, but for elements that it transposes.
        None if matrices && element_bytes != MATRIX_ELEMENT_BYTES => vec![1],
        None if matrices && shape[0] * element_bytes < CHUNK_BYTES => vec![1],
        None => vec![1, 0],
    };
    // No swizzle first: a swizzle has to be worth it. Rows of `ldmatrix` always require theirs.
    let chunks: &[u32] = if matrices { &[CHUNK_BYTES] } else { &[0, CHUNK_BYTES, 2 * CHUNK_BYTES] };
    let named: Vec<Layout> = axes
        .into_iter()
        .flat_map(|axis| chunks.iter().map(move |&chunk| (chunk, axis)))
        .map(|(chunk, axis)| swizzled(shape, element_bytes, chunk, axis))
        .filter(|layout| keeps(layout, together))
        .collect();
    let visit = |one: &Use| {
        let (registers, least_vector) = match &one.how {
            How::Registers(registers) => (registers, 1),
            How::Copy { registers, elements, .. } => (registers, *elements),
            How::Matrix | How::Boxes { .. } | How::Exactly(_) | How::Row | How::Any => {
                return None;
            }
        };
        // A window may be a part of the tile.
        let outs = shape.iter().enumerate().map(|(axis, &extent)| (Dim::axis(axis), extent));
        let registers = Layout::new(registers.ins().to_vec(), outs.collect()).ok()?;
        Some(Visit { registers, times: one.times, least_vector })
    };
    let visits: Vec<Visit> = uses.iter().filter_map(visit).collect();
    // What `ldmatrix` reads keeps its rows of 16 bytes, which an exchange between registers need not.
    let chosen = if matrices {
        cheapest(&visits, named, element_bytes)
    } else {
        meeting(&visits, named, element_bytes)
    };
    chosen.filter(|layout| keeps(layout, together)).unwrap_or_else(plain)
}

/// What TMA and warpgroups share: dense boxes, with the widest swizzle that their rows have.
pub(crate) fn boxed(shape: &[u32], element_bytes: u32) -> Option<Layout> {
    described(shape, element_bytes, false, None)
}

/// The same; with `turned`, columns are what is contiguous, and with a swizzle that is declared it has that one.
fn described(
    shape: &[u32],
    element_bytes: u32,
    turned: bool,
    swizzle_bytes: Option<u32>,
) -> Option<Layout> {
    let bits = element_bytes * 8;
    let swizzle =
        swizzle_bytes.unwrap_or_else(|| default_swizzle_bytes(shape, bits, turned, false));
    nvmma_shared(swizzle, bits, turned, false, shape).ok()
}

/// Rows along the axis `fastest`, chunks of which are exchanged from row to row so that equal chunks of neighbouring rows are in
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
        .expect("ir::verify requires extents that are powers of two")
}
