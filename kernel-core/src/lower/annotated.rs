//! The text of a kernel with its layouts, and with what each statement costs a warp.

use kernel_layout::{Dim, Layout};
use la_arena::ArenaMap;

use super::memory::access_cost::access_cost;
use super::tiles::convert::conversion_cost;
use super::tiles::crossing::{reduce_cost, scan_cost};
use super::tiles::flip::flip_cost;
use super::tiles::sort::sort_cost;
use crate::ir::{
    Annotations, Does, Kernel, Layouts, MemoryOp, Op, Shared, StmtKind, TileOp, Value,
};
use crate::loc::Loc;

/// The text, and the lines that statements come from, if those are known.
pub(crate) fn annotated(
    kernel: &Kernel,
    layouts: &Layouts,
    shared: &ArenaMap<Shared, Layout>,
    line: Option<&dyn Fn(Loc) -> u32>,
) -> String {
    let cost = |kind: &StmtKind| statement_cost(kernel, layouts, shared, kind);
    kernel.annotated(Annotations { layouts, shared, cost: &cost, line })
}

/// What it costs to convert a tile, to access shared memory or to combine what other threads hold; none of other statements,
/// and of tiles without a layout.
fn statement_cost(
    kernel: &Kernel,
    layouts: &Layouts,
    shared: &ArenaMap<Shared, Layout>,
    kind: &StmtKind,
) -> Option<String> {
    let combined = |args: &[Value]| {
        let layout = layouts.get(args[0])?;
        let elems: Option<Vec<_>> = args.iter().map(|&arg| kernel.ty(arg).elem()).collect();
        Some((elems?, layout, layout.in_size(Dim::Warp)))
    };
    match kind {
        StmtKind::Op { op: Op::Memory(MemoryOp::LoadShared), args, result } => {
            let registers = layouts.get((*result)?)?;
            Some(access_cost(kernel, shared, Does::Reads, args[0], registers).to_string())
        }
        StmtKind::Op { op: Op::Memory(MemoryOp::StoreShared), args, .. } => {
            let registers = layouts.get(args[1])?;
            Some(access_cost(kernel, shared, Does::Writes, args[0], registers).to_string())
        }
        StmtKind::Op { op: Op::Tile(TileOp::ToLayout(_)), args, result } => {
            let (from, to) = (layouts.get(args[0])?, layouts.get((*result)?)?);
            Some(conversion_cost(kernel.ty(args[0]).elem()?, from, to).to_string())
        }
        StmtKind::Op { op: Op::Tile(TileOp::Flip(axis)), args, .. } => {
            let (elem, layout) = (kernel.ty(args[0]).elem()?, layouts.get(args[0])?);
            Some(flip_cost(elem, layout, *axis as usize).to_string())
        }
        StmtKind::Op { op: Op::Tile(TileOp::Sort(axis)), args, result } => {
            let (layout, kept) = (layouts.get(args[0])?, kernel.ty((*result)?).shape());
            let (axis, elem) = (*axis as usize, kernel.ty(args[0]).elem()?);
            Some(sort_cost(elem, layout, axis, kept[axis]).to_string())
        }
        StmtKind::Scan { args, axis, direction, .. } => {
            let (elems, layout, warps) = combined(args)?;
            Some(scan_cost(&elems, layout, (*axis as usize, *direction), warps).to_string())
        }
        StmtKind::Reduce { args, axis, results, .. } => {
            let (elems, layout, warps) = combined(args)?;
            let to = layouts.get(*results.first()?);
            Some(reduce_cost(&elems, layout, *axis as usize, warps, to).to_string())
        }
        StmtKind::Op { .. }
        | StmtKind::If { .. }
        | StmtKind::For { .. }
        | StmtKind::Loop { .. }
        | StmtKind::Specialize { .. }
        | StmtKind::Ptx { .. } => None,
    }
}
