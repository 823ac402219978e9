//! Values that each thread has for itself.
//!
//! A scalar is one value for the whole block: conditions, the ends of loops and coordinates rely on it, and so do the barriers
//! that Kiln places. The result of `ptx!` may differ from thread to thread, and so may what is computed from it, also by way of
//! a tile, whose elements several threads may hold.

use la_arena::ArenaMap;

use super::{Kernel, Op, Region, Stmt, StmtKind, Terminator, Value};
use crate::loc::Loc;

impl Kernel {
    /// The values that may differ from thread to thread, each with the place of the `ptx!` from which it comes.
    pub fn per_thread(&self) -> ArenaMap<Value, Loc> {
        let mut own = Own::default();
        loop {
            own.changed = false;
            spread(&self.body, &mut own, &mut Vec::new());
            if !own.changed {
                return own.of;
            }
        }
    }
}

/// Where such a value comes from.
#[derive(Default)]
struct Own {
    of: ArenaMap<Value, Loc>,
    changed: bool,
}

impl Own {
    fn mark(&mut self, value: Value, origin: Loc) {
        if !self.of.contains_idx(value) {
            self.of.insert(value, origin);
            self.changed = true;
        }
    }

    fn any(&self, values: &[Value]) -> Option<Loc> {
        values.iter().find_map(|value| self.of.get(*value).copied())
    }

    /// Every result follows from every source.
    fn mix(&mut self, sources: &[Value], results: &[Value]) {
        if let Some(origin) = self.any(sources) {
            for &result in results {
                self.mark(result, origin);
            }
        }
    }

    /// Each result is the source in its place.
    fn flow(&mut self, sources: &[Value], results: &[Value]) {
        for (&source, &result) in sources.iter().zip(results) {
            self.mix(&[source], &[result]);
        }
    }
}

/// The values that receive what a loop passes.
struct Around {
    args: Vec<Value>,
    results: Vec<Value>,
}

fn spread(region: &Region, own: &mut Own, loops: &mut Vec<Around>) {
    for Stmt { kind, loc } in &region.stmts {
        match kind {
            // One thread changes memory, and gives the others what it found.
            StmtKind::Op { op: Op::Atomic(_), .. } | StmtKind::Op { result: None, .. } => {}
            StmtKind::Op { args, result: Some(result), .. } => own.mix(args, &[*result]),
            StmtKind::Ptx { code, args, results } => {
                if !code.is_uniform() {
                    for &result in results {
                        own.mark(result, *loc);
                    }
                }
                own.mix(args, results);
            }
            StmtKind::Reduce { args, results, .. } | StmtKind::Scan { args, results, .. } => {
                own.mix(args, results);
            }
            StmtKind::If { then, otherwise, results, .. } => {
                for side in [then, otherwise] {
                    spread(side, own, loops);
                    if let Terminator::Yield(values) = &side.end {
                        own.flow(values, results);
                    }
                }
            }
            StmtKind::For { inits, body, results, .. } => {
                let args = body.args.get(1..).unwrap_or_default().to_vec();
                iterations(inits, body, Around { args, results: results.clone() }, own, loops);
            }
            StmtKind::Specialize { default, partitions, results } => {
                spread(default, own, loops);
                own.flow(default.end.values(), results);
                for partition in partitions {
                    spread(&partition.body, own, loops);
                }
            }
            StmtKind::Loop { inits, body, results } => {
                let around = Around { args: body.args.clone(), results: results.clone() };
                iterations(inits, body, around, own, loops);
            }
        }
    }
    if let Terminator::Continue(depth, values) | Terminator::Break(depth, values) = &region.end
        && let Some(around) =
            loops.len().checked_sub(1 + *depth as usize).and_then(|at| loops.get(at))
    {
        own.flow(values, &around.args);
        own.flow(values, &around.results);
    }
}

fn iterations(
    inits: &[Value],
    body: &Region,
    around: Around,
    own: &mut Own,
    loops: &mut Vec<Around>,
) {
    own.flow(inits, &around.args);
    own.flow(inits, &around.results);
    loops.push(around);
    spread(body, own, loops);
    loops.pop();
}
