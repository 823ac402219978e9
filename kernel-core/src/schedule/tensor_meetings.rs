//! Meetings of threads that exchange data through tensor memory.
//!
//! A warp reaches only its own quarter of the rows, so in one warpgroup every warp reads what it has written itself. With more warps,
//! several reach the same quarter, and the window and the layout of the registers decide which of them has which columns or rows. If a window is written in one layout and read in another, the threads meet in between, with a
//! fence on either side (PTX ISA, "tcgen05.fence").
//!
//! No meeting is needed for two windows of one shape in one layout that are the same or do not overlap, if no two warps hold the same
//! part of them in the same rows.

use std::collections::BTreeSet;

use kernel_layout::Dim;

use super::statement;
use crate::{
    ir::{
        By, Does, Effects, Kernel, Layouts, Memory, Op, ProductOp, Stmt, StmtKind, SyncOp, Tcgen05,
        TensorMemory, Value,
        flow::{self, Flow, Insertions, Number, Part, Unsettled},
    },
    layouts::tensor_memory::QUARTERS,
    loc::Loc,
};

/// How threads have accessed columns since they last met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Access {
    root: TensorMemory,
    /// An index into [`Meetings::ways`].
    way: usize,
    written: bool,
    /// Several warps hold the same part of the tile in the same rows, and one of them writes it.
    copied: bool,
}

type State = BTreeSet<Access>;

/// Inserts the meetings that partitions need. All tiles have their layouts.
///
/// # Errors
/// See [`flow::solve`].
pub fn tensor_meetings(kernel: &mut Kernel, layouts: &Layouts) -> Result<(), Unsettled> {
    if kernel.tensor_memory.is_empty() {
        return Ok(());
    }
    let (warps, out) = (kernel.warps, Insertions::default());
    let mut meetings = Meetings { kernel, layouts, warps, ways: Vec::new(), out };
    flow::solve(&mut meetings, &kernel.body, &State::new())?;
    let Meetings { out, .. } = meetings;
    out.insert(&mut kernel.body);
    Ok(())
}

struct Meetings<'a> {
    kernel: &'a Kernel,
    layouts: &'a Layouts,
    /// The warps that run the statements.
    warps: u32,
    /// A window and a tile of each kind of access; the type and the layout are what counts.
    ways: Vec<(Value, Value)>,
    out: Insertions,
}

impl Meetings<'_> {
    /// The accesses of threads to tensor memory; the tile is the last operand or the result.
    fn access(
        &mut self,
        effects: &Effects,
        (args, result): (&[Value], Option<Value>),
    ) -> Option<Access> {
        let (window, written) = effects.accesses.iter().find_map(|access| {
            let Memory::TensorMemory(window) = access.memory else { return None };
            (access.by == By::Threads).then_some((window, access.does == Does::Writes))
        })?;
        let tile = if written { *args.last()? } else { result? };
        let root = self.kernel.tensor_columns(self.kernel.ty(window).tensor_memory()?.root);
        let same = |&(other, held): &(Value, Value)| {
            self.kernel.ty(other) == self.kernel.ty(window)
                && self.layouts.get(held) == self.layouts.get(tile)
        };
        let way = self.ways.iter().position(same).unwrap_or(self.ways.len());
        if way == self.ways.len() {
            self.ways.push((window, tile));
        }
        let warps = self.layouts.get(tile)?.bases(Dim::Warp);
        let mut further = warps.iter().skip(QUARTERS.trailing_zeros() as usize);
        let copied = further.any(|basis| basis.iter().all(|&part| part == 0));
        Some(Access { root, way, written, copied })
    }

    /// Whether the threads meet before a statement; `state` becomes that after it.
    fn meets(&mut self, stmt: &Stmt, state: &mut State) -> bool {
        let StmtKind::Op { op, args, result } = &stmt.kind else { return false };
        let effects = self.kernel.effects(op, args, *result);
        if effects.meets_crew() {
            state.clear();
        }
        if self.warps <= QUARTERS {
            return false;
        }
        let Some(access) = self.access(&effects, (args, *result)) else { return false };
        let handed_on = |earlier: &Access| {
            earlier.root == access.root
                && (earlier.way != access.way || access.copied)
                && (earlier.written || access.written)
        };
        let meets = state.iter().any(handed_on);
        if meets {
            state.clear();
        }
        state.insert(access);
        meets
    }
}

impl Flow for Meetings<'_> {
    type State = State;

    fn cross(&mut self, stmt: &Stmt, state: &mut State) {
        self.meets(stmt, state);
    }

    fn join(&mut self, into: &mut State, other: &State) {
        into.extend(other);
    }

    fn enter(&mut self, part: Part<'_>, _: &State) -> State {
        self.warps = part.warps.unwrap_or(self.kernel.warps);
        State::new()
    }

    fn behind_parts(&mut self, _: Loc, _: &State, _: Vec<Option<State>>) -> Option<State> {
        self.warps = self.kernel.warps;
        // All partitions meet after it.
        Some(State::new())
    }

    fn visit(&mut self, stmt: &Stmt, state: &State, number: Number) {
        if self.meets(stmt, &mut state.clone()) {
            let fences = [
                Op::Product(ProductOp::Tcgen05(Tcgen05::FenceBefore)),
                Op::Sync(SyncOp::Block),
                Op::Product(ProductOp::Tcgen05(Tcgen05::FenceAfter)),
            ];
            let fences = fences.map(|op| statement(op, stmt.loc));
            self.out.before.insert(number, fences.to_vec());
        }
    }
}
