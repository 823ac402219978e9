//! What a warp has in flight and waits for by groups: `cp.async`, bulk stores, `wgmma`, and accesses to tensor memory.

use super::{Issue, Model};
use crate::trace::Kind;
use crate::trace::cost::{self, SCHEDULERS};
use crate::trace::drawing::{LaneKey, Piece, Place};
use crate::trace::facts::Action;

/// Groups of operations that are waited for in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    /// When everything so far is done, committed or not.
    pub(super) open: f64,
    closed: Vec<f64>,
}

impl Groups {
    pub(super) fn add(&mut self, done: f64) {
        self.open = self.open.max(done);
    }

    fn commit(&mut self) {
        self.closed.push(self.open);
    }

    /// When all but the last `keep` groups are done.
    fn done(&self, keep: u32) -> f64 {
        let last = self.closed.len().checked_sub(keep as usize + 1);
        last.map_or(0.0, |last| self.closed[last])
    }
}

/// The `cp.async` of a warp since it last committed, or waited for all: one piece of the drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    start: f64,
    end: f64,
    first: u32,
    last: u32,
    count: u32,
}

/// A wait of a warp for what it has in flight.
struct Wait {
    until: f64,
    name: String,
    /// What the wait ends with; nothing that has a lane, for tensor memory.
    from: Option<Place>,
}

/// The groups that a wait leaves, in words.
fn but(keep: u32) -> String {
    match keep {
        0 => String::new(),
        1 => " but the last group".to_owned(),
        keep => format!(" but the last {keep} groups"),
    }
}

impl Model<'_> {
    /// What an instruction does with what its warp has in flight.
    pub(super) fn act(&mut self, issue: Issue<'_>, done: f64) {
        let state = &mut self.instances[issue.instance].warps[issue.warp];
        let at = issue.at;
        match issue.facts.action {
            Action::None | Action::CommitTensor => {}
            Action::Copy => {
                state.copies.add(done);
                let (first, last) = (issue.pc, issue.pc);
                let new = Batch { start: at, end: done, first, last, count: 0 };
                let batch = state.batch.get_or_insert(new);
                (batch.end, batch.last) = (batch.end.max(done), batch.last.max(issue.pc));
                batch.count += 1;
            }
            Action::TrackCopies => self.draw_batch(issue.instance, issue.warp),
            Action::CommitCopies => {
                state.copies.commit();
                self.draw_batch(issue.instance, issue.warp);
            }
            Action::CommitBulk => {
                state.bulk.commit();
                state.bulk_reads.commit();
            }
            Action::Wgmma => state.products.add(done),
            Action::CommitWgmma => state.products.commit(),
            Action::TensorMemory { registers } => {
                // 32 lanes get a register each in a cycle.
                let done = at + cost::TENSOR_MEMORY + f64::from(registers);
                state.tensor_memory = state.tensor_memory.max(done);
            }
            Action::Branch => state.ready = state.ready.max(at + cost::BRANCH),
            Action::WaitCopies { .. }
            | Action::WaitBulk { .. }
            | Action::WaitWgmma { .. }
            | Action::WaitTensorMemory => self.wait_for_own(issue),
        }
    }

    /// A warp waits for what it has in flight itself.
    fn wait_for_own(&mut self, issue: Issue<'_>) {
        let Issue { instance, warp, block, .. } = issue;
        if (issue.facts.action == Action::WaitCopies { keep: None }) {
            self.draw_batch(instance, warp);
        }
        let Some(wait) = self.own_wait(issue) else { return };
        let state = &mut self.instances[instance].warps[warp];
        if wait.until <= state.ready {
            return;
        }
        let since = std::mem::replace(&mut state.ready, wait.until);
        if instance > 0 {
            return;
        }
        let lane = LaneKey::Warp(block, warp % self.recorder.warps);
        self.drawing.step(lane, Piece::new(Kind::Wait, (since, wait.until), (issue.pc, wait.name)));
        if let Some(from) = wait.from {
            let to = Place::of(lane, wait.until);
            self.drawing.arrow((from, from.at), (to, wait.until));
        }
    }

    /// The wait of an instruction, if it is one for groups.
    fn own_wait(&self, Issue { instance, warp, block, facts, .. }: Issue<'_>) -> Option<Wait> {
        let state = &self.instances[instance].warps[warp];
        match facts.action {
            Action::WaitCopies { keep } => {
                let until = keep.map_or(state.copies.open, |keep| state.copies.done(keep));
                let name = format!("waits for its cp.async{}", but(keep.unwrap_or(0)));
                Some(Wait { until, name, from: Some(Place::of(LaneKey::Async(block), until)) })
            }
            Action::WaitBulk { keep, reads_only } => {
                let (groups, what) = if reads_only {
                    (&state.bulk_reads, "the sources of its bulk stores to be read,")
                } else {
                    (&state.bulk, "its bulk stores")
                };
                let until = groups.done(keep);
                let name = format!("waits for {what}{}", but(keep));
                let name = name.trim_end_matches(',').to_owned();
                Some(Wait { until, name, from: Some(Place::of(LaneKey::Copies(block), until)) })
            }
            Action::WaitWgmma { keep } => {
                let until = state.products.done(keep);
                let name = format!("waits for its wgmma{}", but(keep));
                let row = self.scheduler(instance, warp) % SCHEDULERS;
                let place = Place::of(LaneKey::Tensor(block), until - cost::PRODUCT_END);
                Some(Wait { until, name, from: Some(place.in_row(row)) })
            }
            Action::WaitTensorMemory => {
                let name = "waits for its accesses to tensor memory".to_owned();
                Some(Wait { until: state.tensor_memory, name, from: None })
            }
            Action::None
            | Action::Copy
            | Action::CommitCopies
            | Action::TrackCopies
            | Action::CommitBulk
            | Action::Wgmma
            | Action::CommitWgmma
            | Action::TensorMemory { .. }
            | Action::CommitTensor
            | Action::Branch => None,
        }
    }

    /// Draws the `cp.async` of a warp up to here.
    pub(super) fn draw_batch(&mut self, instance: usize, warp: usize) {
        let batch = self.instances[instance].warps[warp].batch.take();
        let Some(batch) = batch.filter(|_| instance == 0) else { return };
        let name = format!("cp.async of warp {}", warp % self.recorder.warps);
        let mut piece = Piece::new(Kind::Copy, (batch.start, batch.end), (batch.first, name));
        (piece.last, piece.count) = (batch.last, batch.count);
        self.drawing.beside(LaneKey::Async(warp / self.recorder.warps), piece);
    }
}
