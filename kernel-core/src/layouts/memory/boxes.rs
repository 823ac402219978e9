//! What TMA copies and tensor cores require of shared memory: boxes and descriptors that describe it.

use kernel_layout::tma::Rule;
use kernel_layout::wgmma::Refusal;
use kernel_layout::{Form, Layout};
use la_arena::ArenaMap;

use crate::ir::{
    CopyOp, Kernel, Op, ParamKind, ProductOp, Region, Shared, SharedType, StmtKind, Tcgen05, Tma,
    Type, Value,
};
use crate::layouts::tcgen05;
use crate::layouts::tensor_copy;
use crate::layouts::tensor_memory;
use crate::layouts::tma;
use crate::layouts::wgmma::{self, Generation, Side};
use crate::layouts::{Allocation, CopyEnds, LayoutProblem, Origin, SharedLayout, analyze, shared};
use crate::loc::Loc;

/// The copies and products of a kernel that its shared memory does not allow.
///
/// On an error the kernel is not used any more, though inference has changed it.
pub(crate) fn check(kernel: &Kernel, layouts: &ArenaMap<Shared, Layout>) -> Vec<LayoutProblem> {
    let mut problems = Vec::new();
    let known = analyze(kernel);
    let planning = tma::Planning { kernel, known: &known, layouts };
    region(planning, &kernel.body, &mut problems);
    problems
}

fn region(planning: tma::Planning<'_>, region_: &Region, problems: &mut Vec<LayoutProblem>) {
    let tma::Planning { kernel, layouts, .. } = planning;
    for stmt in &region_.stmts {
        if let StmtKind::Op { op, args, .. } = &stmt.kind {
            let places = kernel.operands.get(&stmt.loc).copied();
            match op {
                Op::Copy(CopyOp::Tma(tma)) => {
                    problems.extend(tma_copy(planning, *tma, args, (stmt.loc, places)));
                }
                Op::Copy(CopyOp::Bulk(bulk)) => {
                    if let Err((root, refusal)) =
                        crate::layouts::bulk::check(kernel, layouts, *bulk, args)
                    {
                        let (at, chosen_at) = (stmt.loc, pinned_at(kernel, root));
                        problems.push(LayoutProblem::Bulk { at, chosen_at, refusal });
                    }
                }
                Op::Product(product) => {
                    let places = places.unwrap_or([stmt.loc; 3]);
                    problems.extend(operands(planning, product, args, places));
                }
                Op::Source(_)
                | Op::Tile(_)
                | Op::Elementwise(_)
                | Op::Memory(_)
                | Op::Window(_)
                | Op::Copy(_)
                | Op::Sync(_)
                | Op::TensorMemory(_)
                | Op::Assert(_)
                | Op::Report(_) => {}
            }
        }
        for inner in stmt.kind.regions() {
            region(planning, inner, problems);
        }
    }
}

/// What keeps a TMA copy from one box; `places` are those of the rows, the column and the tile of a gather or a scatter. Those of
/// other copies are their corner, its last coordinate and the tile.
fn tma_copy(
    planning: tma::Planning<'_>,
    tma: Tma,
    args: &[Value],
    (loc, places): (Loc, Option<[Loc; 3]>),
) -> Option<LayoutProblem> {
    let kernel = planning.kernel;
    let rank = kernel.params[tma.param as usize].kind.rank();
    let plan = if tma.kind.by_rows() {
        planning.by_rows(tma, args).err()
    } else if kernel.has_filter(tma.param) {
        planning.by_places(tma, args).err()
    } else {
        planning.plan(tma, args).err()
    };
    let refusal = plan?;
    let window = tma.operands(rank as usize, args).window;
    let window = window.map(|window| shared::window_of(kernel, window));
    let shape = window.map(|window| window.shape.clone()).unwrap_or_default();
    let is_last = planning.contiguous(tma.param) + 1 == rank as usize;
    let at = match (places, &refusal) {
        (
            Some([_, column, _]),
            tma::TmaRefusal::Rule { rule: Rule::InnerCoordinate, .. }
            | tma::TmaRefusal::Past { .. }
            | tma::TmaRefusal::Padded(_, tma::PaddedRefusal::Column { .. }),
        ) if is_last => column,
        (Some([_, column, tile]), refusal) if tma.kind.by_rows() => match refusal {
            tma::TmaRefusal::Rule { .. } | tma::TmaRefusal::Past { .. } => column,
            tma::TmaRefusal::InnerBytes { .. }
            | tma::TmaRefusal::Slice(_)
            | tma::TmaRefusal::Layout { .. }
            | tma::TmaRefusal::Part
            | tma::TmaRefusal::Apart
            | tma::TmaRefusal::Padded(..)
            | tma::TmaRefusal::Instructions { .. }
            | tma::TmaRefusal::Swizzle { .. } => tile,
        },
        _ => loc,
    };
    let chosen_at = window.and_then(|window| pinned_at(kernel, window.root));
    Some(LayoutProblem::Box { at, chosen_at, shape, refusal })
}

/// What keeps a product from reading its operands, or `tcgen05.cp` from copying.
fn operands(
    planning: tma::Planning<'_>,
    product: &ProductOp,
    args: &[Value],
    places: [Loc; 3],
) -> Vec<LayoutProblem> {
    let tma::Planning { kernel, layouts, .. } = planning;
    let sides = || [(Side::Left, args[0], places[0]), (Side::Right, args[1], places[1])];
    match product {
        ProductOp::Wgmma { sparse } => {
            let Form::Wgmma { n, .. } = wgmma::form(kernel, [args[0], args[1], args[2]]) else {
                return Vec::new();
            };
            let instruction = wgmma::Instruction { n, sparse: *sparse };
            let refused = |side| described(kernel, layouts, side, instruction);
            sides().into_iter().filter_map(refused).collect()
        }
        ProductOp::Tcgen05(Tcgen05::Mma { group, multiplied, .. }) => {
            let Type::TensorMemory(sums) = kernel.ty(args[2]) else { return Vec::new() };
            let widths = tcgen05::block(kernel, sums).widths(*group);
            let read = |((side, operand, at), width)| {
                let window = kernel.ty(operand).shared()?;
                let refusal =
                    tcgen05::read(kernel, layouts, (window, side), (width, *multiplied)).err()?;
                Some(refused(kernel, (side, at), window, (Generation::Blackwell, refusal)))
            };
            sides().into_iter().zip(widths).filter_map(read).collect()
        }
        ProductOp::Tcgen05(Tcgen05::Copy { .. }) => {
            to_tensor_memory(kernel, layouts, args, places).into_iter().collect()
        }
        ProductOp::Dot(_)
        | ProductOp::WgmmaWait(_)
        | ProductOp::Tcgen05(Tcgen05::Commit { .. } | Tcgen05::FenceBefore | Tcgen05::FenceAfter) => {
            Vec::new()
        }
    }
}

fn to_tensor_memory(
    kernel: &Kernel,
    layouts: &ArenaMap<Shared, Layout>,
    args: &[Value],
    places: [Loc; 3],
) -> Option<LayoutProblem> {
    let (from, to) = (kernel.ty(args[0]).shared()?, kernel.ty(args[1]).tensor_memory()?);
    let refusal = tensor_copy::plan(kernel, layouts, from, to).err()?;
    let at = places[usize::from(!refusal.is_of_the_source())];
    let ends = Box::new(CopyEnds {
        shape: [to.shape[0], to.shape[1]],
        element_bits: to.dtype.bytes() * 8,
        shared: SharedLayout::of(kernel, from.root, &layouts[from.root]),
        shared_at: pinned_at(kernel, from.root),
        shared_made_at: kernel.shared[from.root].loc,
        nearest: tensor_copy::nearest(kernel, from, to),
        memory: tensor_memory::form(kernel, to.root),
        memory_at: kernel.tensor_memory[to.root].loc,
    });
    Some(LayoutProblem::TensorCopy { at, ends, refusal })
}

fn described(
    kernel: &Kernel,
    layouts: &ArenaMap<Shared, Layout>,
    (side, operand, at): (Side, Value, Loc),
    instruction: wgmma::Instruction,
) -> Option<LayoutProblem> {
    let Type::Shared(window) = kernel.ty(operand) else { return None };
    let refusal = wgmma::read(kernel, layouts, window, side, instruction).err()?;
    Some(refused(kernel, (side, at), window, (Generation::Hopper, refusal)))
}

fn refused(
    kernel: &Kernel,
    (side, at): (Side, Loc),
    window: &SharedType,
    (generation, refusal): (Generation, Box<Refusal>),
) -> LayoutProblem {
    let allocation = Allocation {
        at: kernel.shared[window.root].loc,
        dtype: window.dtype,
        shape: kernel.shared[window.root].shape.clone(),
    };
    let declared = || declared_at(kernel, &kernel.body, window.root).map(Origin::Declared);
    let pinned = pinned_at(kernel, window.root).map(Origin::Pinned);
    let origin = pinned.or_else(declared).unwrap_or(Origin::Inferred);
    LayoutProblem::Descriptor { at, side, generation, origin, allocation, refusal }
}

/// The tensor map of a copy from or to an allocation that declares which swizzle its tiles have, if there is one.
fn declared_at(kernel: &Kernel, region: &Region, root: Shared) -> Option<Loc> {
    region.stmts.iter().find_map(|stmt| {
        if let StmtKind::Op { op: Op::Copy(CopyOp::Tma(tma)), args, .. } = &stmt.kind {
            let param = &kernel.params[tma.param as usize];
            let ParamKind::Tensor { rank, .. } = param.kind else { return None };
            let window = tma.operands(rank as usize, args).window?;
            let meets = shared::window_of(kernel, window).root == root;
            return (meets && param.map.swizzle_bytes.is_some()).then_some(param.loc);
        }
        stmt.kind.regions().into_iter().find_map(|inner| declared_at(kernel, inner, root))
    })
}

/// Where the layout of an allocation was pinned, if it was.
fn pinned_at(kernel: &Kernel, root: Shared) -> Option<Loc> {
    let data = &kernel.shared[root];
    data.pinned.as_ref().map(|_| data.loc)
}
