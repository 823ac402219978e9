//! `bar.expect_copies()`: the bytes of the copies that follow, counted by the compiler.
//!
//! It counts the TMA and bulk loads on the same barrier in the same straight run of statements, up to the next `expect` or
//! wait on that barrier. Other copies that complete on it there are refused (K0411): in a branch, under a condition, or to several
//! blocks, their bytes are known only at run time.

use la_arena::ArenaMap;

use super::{
    barrier_bytes::{Arriving, arriving},
    slots::{Slot, Slots},
};
use crate::{
    diag::{Code, Diagnostic},
    elaborate::sync::barrier::MOST_BYTES,
    ir::{BarrierOp, Const, Kernel, Op, Region, SourceOp, Stmt, StmtKind, SyncOp, Type, Value},
    loc::Loc,
};

/// Why the bytes of a copy are not counted.
#[derive(Clone, Copy)]
enum Open {
    /// It is in a branch, a loop or a partition.
    Inside,
    /// It takes place under a condition.
    Guarded,
    /// Other blocks receive it, and send theirs.
    Multicast,
    /// It is on a barrier of the ring that may be the same.
    OtherSlot,
    /// It is before the `expect_copies`.
    Before,
}

/// What other blocks do at a barrier of this one.
#[derive(Clone, Copy)]
enum Heard {
    /// They arrive.
    Arrivals,
    /// They send bytes that it counts.
    Bytes,
}

/// Which blocks of the cluster come to a run of statements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comes {
    /// All of them.
    Every,
    /// Those for which a condition holds.
    Some,
}

/// Puts in what `counted` stands for: the bytes of each `expect_copies`.
///
/// Gives what cannot be counted.
pub(super) fn fill(kernel: &mut Kernel, counted: &ArenaMap<Value, ()>) -> Vec<Diagnostic> {
    let mut walk = Walk {
        kernel,
        counted,
        slots: Slots::of(kernel),
        sums: ArenaMap::new(),
        found: Vec::new(),
    };
    walk.region(&kernel.body, Comes::Every);
    let Walk { sums, found, .. } = walk;
    put(&mut kernel.body, &sums);
    found
}

/// Replaces the constants that stand for sums.
fn put(region: &mut Region, sums: &ArenaMap<Value, u64>) {
    for stmt in &mut region.stmts {
        if let StmtKind::Op { op: Op::Source(SourceOp::Const(value)), result: Some(result), .. } =
            &mut stmt.kind
            && let Some(sum) = sums.get(*result)
        {
            *value = Const::Int(i128::from(*sum));
        }
        for inner in stmt.kind.regions_mut() {
            put(inner, sums);
        }
    }
}

struct Walk<'k> {
    kernel: &'k Kernel,
    counted: &'k ArenaMap<Value, ()>,
    slots: Slots<'k>,
    sums: ArenaMap<Value, u64>,
    found: Vec<Diagnostic>,
}

impl Walk<'_> {
    fn region(&mut self, region: &Region, comes: Comes) {
        for (index, stmt) in region.stmts.iter().enumerate() {
            let inside = if matches!(stmt.kind, StmtKind::If { .. }) { Comes::Some } else { comes };
            for inner in stmt.kind.regions() {
                self.region(inner, inside);
            }
            let StmtKind::Op { op, args, .. } = &stmt.kind else { continue };
            if *op == Op::Sync(SyncOp::Barrier(BarrierOp::Expect))
                && self.counted.get(args[1]).is_some()
                && let Some(slot) = self.slots.here(args[0])
            {
                match self.sum((region, comes), index, (args[0], slot), stmt.loc) {
                    Ok(sum) => {
                        self.sums.insert(args[1], sum);
                    }
                    Err(diagnostic) => self.found.push(*diagnostic),
                }
            }
        }
    }

    /// The bytes that the copies after an `expect_copies` complete.
    fn sum(
        &mut self,
        (region, comes): (&Region, Comes),
        index: usize,
        (barrier, slot): (Value, Slot),
        at: Loc,
    ) -> Result<u64, Box<Diagnostic>> {
        let mut earlier = None;
        for stmt in region.stmts[..index].iter().rev() {
            if ends(stmt, slot, &self.slots) {
                break;
            }
            earlier = earlier.or_else(|| self.loaded(stmt, slot).map(|_| stmt.loc));
        }
        if let Some(copy) = earlier {
            return Err(Box::new(open(at, copy, Open::Before)));
        }
        let mut bytes = 0;
        let mut copies = 0;
        for stmt in &region.stmts[index + 1..] {
            if ends(stmt, slot, &self.slots) {
                break;
            }
            if let Some((copy, why)) = self.uncounted(stmt, slot) {
                let diagnostic = open(at, copy, why);
                let all = match (why, comes) {
                    (Open::Multicast, Comes::Every) if self.heard(barrier).is_none() => {
                        self.of_all(&region.stmts[index + 1..], slot)
                    }
                    (
                        Open::Multicast
                        | Open::Inside
                        | Open::Guarded
                        | Open::OtherSlot
                        | Open::Before,
                        _,
                    ) => None,
                };
                return Err(Box::new(match all {
                    Some(bytes) => diagnostic.help(format!(".expect({bytes})")),
                    None => diagnostic,
                }));
            }
            if let Some(more) = self.loaded(stmt, slot) {
                bytes += more;
                copies += 1;
            }
        }
        if copies == 0 {
            return Err(Box::new(
                Diagnostic::new(
                    Code::BarrierBytes,
                    at,
                    "`expect_copies` has no copy to count",
                )
                .compare("copies on this barrier", "1 or more", "none")
                .why("`expect_copies` counts the copies after it in the same run of statements, up to the next wait or `expect` on the barrier; for other copies give their bytes to `expect`"),
            ));
        }
        if let Some(heard) = self.heard(barrier) {
            return Err(Box::new(others(at, heard, bytes)));
        }
        if i128::from(bytes) > MOST_BYTES {
            return Err(Box::new(
                Diagnostic::new(Code::Overflow, at, format!("a phase cannot expect {bytes} bytes"))
                    .compare("bytes", format!("0 to {MOST_BYTES}"), bytes.to_string()),
            ));
        }
        Ok(bytes)
    }

    /// What other blocks do at a barrier.
    fn heard(&self, barrier: Value) -> Option<Heard> {
        let Type::Barrier(barrier) = self.kernel.ty(barrier) else { return None };
        if self.kernel.is_sent_to(barrier.root) {
            Some(Heard::Bytes)
        } else {
            self.kernel.hears_others(barrier.root).then_some(Heard::Arrivals)
        }
    }

    /// The bytes that a block receives from all blocks of its cluster, if each of them sends its copies to all: the copies that
    /// these statements begin with, in a run to which all blocks come.
    fn of_all(&self, stmts: &[Stmt], slot: Slot) -> Option<u64> {
        let blocks: u32 = self.kernel.cluster.iter().product();
        let every = (1_i128 << blocks) - 1;
        let mut bytes = 0;
        for stmt in stmts {
            if ends(stmt, slot, &self.slots) {
                break;
            }
            let open = self.uncounted(stmt, slot).map(|(_, why)| why);
            let senders = match open {
                None => 1,
                Some(Open::Multicast) => {
                    let copy = copy(self.kernel, stmt)?;
                    if copy.guarded || self.slots.constant(copy.mask?) != Some(every) {
                        return None;
                    }
                    u64::from(blocks)
                }
                Some(Open::Inside | Open::Guarded | Open::OtherSlot | Open::Before) => return None,
            };
            bytes += self.loaded(stmt, slot).unwrap_or(0) * senders;
        }
        Some(bytes)
    }

    /// The bytes of a load on a barrier.
    fn loaded(&self, stmt: &Stmt, slot: Slot) -> Option<u64> {
        let copy = copy(self.kernel, stmt)?;
        (self.slots.here(copy.barrier)? == slot).then_some(copy.bytes)
    }

    /// The first load on a barrier in a region of a statement, up to where its phase ends.
    fn inside(&self, whole: &Region, region: &Region, slot: Slot) -> Option<Loc> {
        let touches = |copy: Arriving| {
            self.slots.here(copy.barrier).is_some_and(|other| {
                // One of a number that only the region knows is in a phase that begins there.
                other == slot || other.root == slot.root && !makes(whole, copy.barrier)
            })
        };
        let stmts = region.stmts.iter().take_while(|stmt| !ends(stmt, slot, &self.slots));
        for stmt in stmts {
            if copy(self.kernel, stmt).is_some_and(touches) {
                return Some(stmt.loc);
            }
            let mut inner = stmt.kind.regions().into_iter();
            if let Some(at) = inner.find_map(|inner| self.inside(whole, inner, slot)) {
                return Some(at);
            }
        }
        None
    }

    /// The load in a statement whose bytes are not known to be those of one copy on a barrier.
    fn uncounted(&self, stmt: &Stmt, slot: Slot) -> Option<(Loc, Open)> {
        let mut inside = stmt.kind.regions().into_iter();
        if let Some(at) = inside.find_map(|region| self.inside(region, region, slot)) {
            return Some((at, Open::Inside));
        }
        let copy = copy(self.kernel, stmt)?;
        let other = self.slots.here(copy.barrier)?;
        if other.root != slot.root {
            return None;
        }
        let why = match (other == slot, copy.mask.is_some(), copy.guarded) {
            (false, ..) if other.tile.same(slot.tile) == Some(false) => return None,
            (false, ..) => Open::OtherSlot,
            (true, true, _) => Open::Multicast,
            (true, false, true) => Open::Guarded,
            (true, false, false) => return None,
        };
        Some((stmt.loc, why))
    }
}

/// The copy that a statement starts, if it is one.
fn copy(kernel: &Kernel, stmt: &Stmt) -> Option<Arriving> {
    let StmtKind::Op { op, args, .. } = &stmt.kind else { return None };
    arriving(kernel, op, args)
}

/// Whether a region makes a value.
fn makes(region: &Region, value: Value) -> bool {
    let mut makes = false;
    region.each_value(&mut |made| makes |= made == value);
    makes
}

/// Whether a statement ends the run of copies of a phase.
fn ends(stmt: &Stmt, slot: Slot, slots: &Slots<'_>) -> bool {
    let StmtKind::Op { op: Op::Sync(SyncOp::Barrier(op)), args, .. } = &stmt.kind else {
        return false;
    };
    match op {
        BarrierOp::Expect | BarrierOp::Wait | BarrierOp::Test => slots.here(args[0]) == Some(slot),
        BarrierOp::Alloc(_) | BarrierOp::Index | BarrierOp::Remote | BarrierOp::Arrive(_) => false,
    }
}

/// A barrier that other blocks use as well, and the bytes of this block's own copies.
fn others(at: Loc, heard: Heard, own: u64) -> Diagnostic {
    let diagnostic =
        Diagnostic::new(Code::BarrierBytes, at, "the bytes of this phase cannot be counted");
    match heard {
        Heard::Arrivals => diagnostic
            .why("other blocks of the cluster arrive at this barrier and may expect bytes of their own; give the bytes of the copies here to `expect`")
            .help(format!(".expect({own})")),
        Heard::Bytes => diagnostic.why(format!("other blocks of the cluster send bytes to this barrier, and how many arrive in a phase is known only at run time; give them to `expect`, together with the {own} bytes of the copies here")),
    }
}

fn open(at: Loc, copy: Loc, why: Open) -> Diagnostic {
    let why = match why {
        Open::Inside => {
            "a copy in a branch, a loop or a partition is not counted: how often it runs is known only at run time"
        }
        Open::Guarded => {
            "a copy under a condition is not counted: if it did not run, the phase would never end"
        }
        Open::Multicast => {
            "a copy to several blocks is not counted: each block receives bytes from all of these blocks, this one included"
        }
        Open::OtherSlot => {
            "whether this copy completes on the same barrier of the ring is known only at run time"
        }
        Open::Before => "`expect_copies` counts only the copies after it",
    };
    Diagnostic::new(Code::BarrierBytes, at, "the bytes of this phase cannot be counted")
        .place(copy, "this copy")
        .why(why)
}
