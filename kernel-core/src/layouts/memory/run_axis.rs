//! The axis along which threads hold runs of a tile: an allocation that is written along another axis needs runs along both.

use kernel_layout::{Dim, Layout};
use la_arena::ArenaMap;

use crate::ir::{Copied, CopyOp, Extents, Kernel, MemoryOp, Op, Shared, SharedType, Type, Value};
use crate::layouts::graph::Graph;
use crate::layouts::{Access, Known, shared};

/// Operations between a store and what it stores are followed so far.
const MOST_STEPS: usize = 16;

/// The axis along which the threads write each allocation, among its last two: 0 or 1.
pub(crate) type Written = ArenaMap<Shared, u32>;

/// How the allocations of a kernel are written, as far as layouts say.
pub(crate) fn written(kernel: &Kernel, known: &Known, graph: &Graph) -> Written {
    let mut written = Written::default();
    kernel.body.each_op(&mut |op, args, _, _| {
        let (window, axis) = match (op, args) {
            (Op::Memory(MemoryOp::StoreShared), [window, tile])
            | (Op::Copy(CopyOp::StoreAsync), [window, tile, _]) => {
                (window, graph.layout(*tile).and_then(run_axis))
            }
            (Op::Copy(CopyOp::Async(copied, _)), [.., window]) => {
                let shape = kernel.ty(*window).shape();
                let extents = match copied {
                    Copied::Tile { extents, .. } => *extents,
                    Copied::Addresses { .. } => Extents::of(kernel.ty(args[0]).shape()),
                };
                let axis = |access: Access| shared::axis_in(extents, access.axis, shape);
                (window, known.access(kernel, op, args).and_then(axis))
            }
            _ => return,
        };
        let rows = |ty: &&SharedType| ty.shape.len() >= 2 && ty.is_plain();
        let Some(window) = window_of(kernel, *window).filter(rows) else {
            return;
        };
        let leading = u32::try_from(window.shape.len() - 2).expect("a rank is small");
        // What no layout is known of is written by rows.
        let axis = axis.map_or(Some(1), |axis| axis.checked_sub(leading));
        if let Some(axis) = axis {
            let axis = if window.transposed { 1 - axis } else { axis };
            written.insert(window.root, axis);
        }
    });
    written
}

fn window_of(kernel: &Kernel, value: Value) -> Option<&SharedType> {
    kernel.ty(value).shared()
}

/// The axis along which a thread holds its longest run of neighbours.
pub(crate) fn run_axis(layout: &Layout) -> Option<u32> {
    let run = |axis: &u32| layout.num_consecutive_along(Dim::Register, Dim::axis(*axis as usize));
    let rank = u32::try_from(layout.tensor_rank()).expect("a rank is small");
    (0..rank).filter(|axis| run(axis) > 1).max_by_key(run)
}

/// The axis along which a tile that has no layout comes in runs from shared memory, if it does.
pub(crate) fn arrives(
    kernel: &Kernel,
    graph: &Graph,
    written: &Written,
    tile: Value,
) -> Option<u32> {
    let mut value = tile;
    for _ in 0..MOST_STEPS {
        let recipe = graph.fluid.get(value).or_else(|| graph.makers.get(value))?;
        let tiles =
            recipe.args.iter().copied().filter(|&arg| matches!(kernel.ty(arg), Type::Tile(..)));
        if recipe.op == Op::Memory(MemoryOp::LoadShared) {
            let window = window_of(kernel, recipe.args[0]).filter(|ty| ty.is_plain())?;
            let axis = written.get(window.root).copied()?;
            let of_window = if window.transposed { 1 - axis } else { axis };
            return (window.shape.len() == 2).then_some(of_window);
        }
        if !matches!(recipe.op, Op::Elementwise(_)) {
            return None;
        }
        // Constants and indices are made in every layout.
        let cheap = |arg: &Value| {
            graph
                .fluid
                .get(*arg)
                .is_some_and(|recipe| recipe.op != Op::Memory(MemoryOp::LoadShared))
        };
        value = tiles.into_iter().find(|arg| !cheap(arg))?;
    }
    None
}
