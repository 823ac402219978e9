//! Meetings of threads that hand tensor memory on to one another.
//!
//! A warp reaches its own quarter of the rows and no others, so that of a warpgroup every warp reads what it has written itself. Of
//! more warps several reach the same quarter, and which of them has which columns, or which of its rows, follows from the window and
//! from the layout of the registers. Where a window is written in one way and read in another, the threads meet in between, with a
//! fence on either side (PTX ISA, "tcgen05.fence").
//!
//! Accepted without a meeting: two windows of one shape in one layout, which are either the same or apart from one another, where no
//! two warps hold the same of them in the same rows.

use std::collections::BTreeSet;

use kernel_layout::Dim;

use super::{WALKED_AGAIN, fences::jumps, nested_loops};
use crate::ir::{
    ClusterOp, Kernel, Layouts, Op, Region, Stmt, StmtKind, Tcgen05, TensorMemory, TensorMemoryOp,
    Type, Value,
};
use crate::layouts::tensor_memory::QUARTERS;
use crate::loc::Loc;

/// A way in which threads have accessed columns since they last met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Access {
    root: TensorMemory,
    /// An index into [`Pass::ways`].
    way: usize,
    written: bool,
    /// Several warps hold the same of the tile in the same rows, of which one writes it.
    copied: bool,
}

type State = BTreeSet<Access>;

/// Puts meetings into the partitions that need them. All tiles have their layouts.
pub fn tensor_meetings(kernel: &mut Kernel, layouts: &Layouts) {
    if kernel.tensor_memory.is_empty() {
        return;
    }
    let mut body = std::mem::take(&mut kernel.body);
    let mut pass = Pass { kernel, layouts, ways: Vec::new() };
    pass.region(&mut body, State::new(), kernel.warps);
    kernel.body = body;
}

struct Pass<'a> {
    kernel: &'a Kernel,
    layouts: &'a Layouts,
    /// A window and a tile of each way of access; the type and the layout are what counts.
    ways: Vec<(Value, Value)>,
}

impl Pass<'_> {
    /// What an operation of threads does to tensor memory.
    fn access(&mut self, op: &Op, args: &[Value], result: Option<Value>) -> Option<Access> {
        let written = *op == Op::TensorMemory(TensorMemoryOp::Store);
        if !written && *op != Op::TensorMemory(TensorMemoryOp::Load) {
            return None;
        }
        let tile = if written { args[1] } else { result? };
        let Type::TensorMemory(window) = self.kernel.ty(args[0]) else { return None };
        let root = self.kernel.tensor_columns(window.root);
        let same = |&(other, held): &(Value, Value)| {
            self.kernel.ty(other) == self.kernel.ty(args[0])
                && self.layouts.get(held) == self.layouts.get(tile)
        };
        let way = self.ways.iter().position(same).unwrap_or(self.ways.len());
        if way == self.ways.len() {
            self.ways.push((args[0], tile));
        }
        let warps = self.layouts.get(tile)?.bases(Dim::Warp);
        let mut further = warps.iter().skip(QUARTERS.trailing_zeros() as usize);
        let copied = further.any(|basis| basis.iter().all(|&part| part == 0));
        Some(Access { root, way, written, copied })
    }

    /// Walks a region that is run by so many warps, and gives what they have accessed at its end.
    fn region(&mut self, region: &mut Region, mut state: State, warps: u32) -> State {
        let mut stmts = Vec::with_capacity(region.stmts.len());
        for mut stmt in std::mem::take(&mut region.stmts) {
            if let StmtKind::Op { op, args, result } = &stmt.kind {
                self.op((op, args, *result), stmt.loc, &mut state, warps, &mut stmts);
            } else {
                state = self.inside(&mut stmt.kind, state, warps);
            }
            stmts.push(stmt);
        }
        region.stmts = stmts;
        state
    }

    fn op(
        &mut self,
        (op, args, result): (&Op, &[Value], Option<Value>),
        loc: Loc,
        state: &mut State,
        warps: u32,
        out: &mut Vec<Stmt>,
    ) {
        if meets(op) {
            state.clear();
        }
        if warps <= QUARTERS {
            return;
        }
        let Some(access) = self.access(op, args, result) else { return };
        let handed_on = |earlier: &Access| {
            earlier.root == access.root
                && (earlier.way != access.way || access.copied)
                && (earlier.written || access.written)
        };
        if state.iter().any(handed_on) {
            let fences =
                [Op::Tcgen05(Tcgen05::FenceBefore), Op::Sync, Op::Tcgen05(Tcgen05::FenceAfter)];
            out.extend(
                fences.map(|op| Stmt {
                    kind: StmtKind::Op { op, args: Vec::new(), result: None },
                    loc,
                }),
            );
            state.clear();
        }
        state.insert(access);
    }

    fn inside(&mut self, kind: &mut StmtKind, mut state: State, warps: u32) -> State {
        match kind {
            StmtKind::If { then, otherwise, .. } => {
                let mut after = self.region(otherwise, state.clone(), warps);
                after.extend(self.region(then, state, warps));
                after
            }
            StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => {
                // An iteration begins with what the one before has left; it may be left from anywhere.
                if nested_loops(body) > WALKED_AGAIN || jumps(body) {
                    self.collect(body, &mut state);
                }
                while nested_loops(body) <= WALKED_AGAIN {
                    let mut looked = body.clone();
                    let mut entered = state.clone();
                    entered.extend(self.region(&mut looked, state.clone(), warps));
                    if entered == state {
                        break;
                    }
                    state = entered;
                }
                let left = self.region(body, state.clone(), warps);
                state.extend(left);
                state
            }
            StmtKind::Specialize { default, partitions, .. } => {
                for partition in partitions {
                    self.region(&mut partition.body, State::new(), partition.warps);
                }
                self.region(default, State::new(), warps);
                // All partitions meet behind it.
                State::new()
            }
            StmtKind::Op { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Ptx { .. } => state,
        }
    }

    /// What a region accesses, whether or not its threads meet behind it.
    fn collect(&mut self, region: &Region, state: &mut State) {
        for stmt in &region.stmts {
            if let StmtKind::Op { op, args, result } = &stmt.kind {
                state.extend(self.access(op, args, *result));
            }
            for inner in stmt.kind.regions() {
                self.collect(inner, state);
            }
        }
    }
}

/// Whether all threads that run an operation have come to it before any goes on.
fn meets(op: &Op) -> bool {
    matches!(op, Op::Sync | Op::FenceAsync | Op::TmaWait { .. } | Op::Cluster(ClusterOp::Sync))
}
