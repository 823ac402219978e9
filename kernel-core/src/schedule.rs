//! Loop rotation: copies of the next iteration start before the arithmetic of this one.
//!
//! A typical loop over tiles is
//!
//! ```text
//! for k { copy_async ..; wait; sync; a = load; b = load; acc = dot(a, b, acc); sync }
//! ```
//!
//! and the copies of iteration `k + 1` stand right after the `sync` that ends iteration `k`. Products read
//! registers only, so they may come after both:
//!
//! ```text
//! copy_async ..
//! for k { wait; sync; a = load; b = load; sync; if more { copy_async .. of k + 1 }; acc = dot(a, b, acc) }
//! ```
//!
//! The order of everything that accesses memory or synchronises stays the same: only pure operations
//! move, and the loop is cut at another place. The copies are then in flight while the tensor cores work.

use std::collections::BTreeMap;

use la_arena::{Arena, ArenaMap};

use crate::ir::{
    Binary, Compare, Const, CopyOp, Dtype, Elem, Kernel, Op, ProductOp, Region, Stmt, StmtKind,
    SyncOp, Terminator, Type, Value, ValueData,
};

mod bounds;
mod cluster;
mod fences;
mod issuing_thread;
mod occupancy;
mod order;
pub mod pipeline;
mod tensor_meetings;
#[cfg(test)]
mod tests;

pub use bounds::bounds;
pub use cluster::meet_at_the_end;
pub use fences::fences;
pub use issuing_thread::order_issuing_thread;
pub use occupancy::blocks_per_multiprocessor;
pub use order::order;
pub use tensor_meetings::tensor_meetings;

/// Rotates every loop of the kernel that gains by it.
pub fn rotate(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    let mut pass = Pass { values: &mut kernel.values, constants: body.constants() };
    pass.region(&mut body);
    kernel.body = body;
}

fn key(value: Value) -> u32 {
    value.into_raw().into_u32()
}

struct Pass<'k> {
    values: &'k mut Arena<ValueData>,
    constants: ArenaMap<Value, i128>,
}

/// What a loop body is cut into.
struct Cut {
    /// Statements before this one are pure, stamps, or start copies.
    wait: usize,
    /// The last synchronisation; only pure statements and stamps follow.
    sync: usize,
}

impl Pass<'_> {
    fn region(&mut self, region: &mut Region) {
        region.replace_each(|mut stmt, out| {
            stmt.kind.regions_mut().into_iter().for_each(|body| self.region(body));
            if let StmtKind::For { from, to, step, body, .. } = &mut stmt.kind {
                let ahead = self.constants.get(*step).is_some_and(|step| *step > 0);
                let (from, to, step) = (*from, *to, *step);
                if ahead && let Some(cut) = cut(body) {
                    self.rotate(from, to, step, body, &cut, out);
                }
            }
            out.push(stmt);
        });
    }

    /// Rewrites the body, and puts the first copies into `before`.
    fn rotate(
        &mut self,
        from: Value,
        to: Value,
        step: Value,
        body: &mut Region,
        cut: &Cut,
        before: &mut Vec<Stmt>,
    ) {
        let iv = body.args[0];
        let loc = body.stmts[cut.wait].loc;
        let mut stmts = std::mem::take(&mut body.stmts);
        let tail = stmts.split_off(cut.sync + 1);
        let rest = stmts.split_off(cut.wait);
        let prefix = stmts;

        let guarded = |pass: &mut Self, at: Value, less: [Value; 2], out: &mut Vec<Stmt>| {
            let condition = pass.value(Type::scalar(Dtype::Bool), loc);
            out.push(op(Compare::Lt, less.to_vec(), Some(condition), loc));
            let then = Region {
                args: Vec::new(),
                stmts: pass.copies(&prefix, iv, at),
                end: Terminator::Yield(Vec::new()),
            };
            let otherwise = Region { end: Terminator::Yield(Vec::new()), ..Region::default() };
            out.push(Stmt {
                kind: StmtKind::If { condition, then, otherwise, results: Vec::new() },
                loc,
            });
        };
        guarded(self, from, [from, to], before);
        let limit = self.limit(to, step, loc, before);

        // What computes without starting a copy stays at the top: later statements may use it.
        let stays = |stmt: &&Stmt| is_pure(stmt) || stmt.is_stamp();
        let mut out: Vec<Stmt> = prefix.iter().filter(stays).cloned().collect();
        let (stay, sink) = split(rest);
        out.extend(stay);
        let ty = self.values[iv].ty.clone();
        let next = self.value(ty, loc);
        out.push(op(Binary::Add, vec![iv, step], Some(next), loc));
        let less = limit.map_or([next, to], |limit| [iv, limit]);
        guarded(self, next, less, &mut out);
        out.extend(sink);
        out.extend(tail);
        body.stmts = out;
    }

    /// What the induction variable is less than in every iteration but the last: nothing if the next one is always in range.
    fn limit(
        &mut self,
        to: Value,
        step: Value,
        loc: crate::loc::Loc,
        out: &mut Vec<Stmt>,
    ) -> Option<Value> {
        let ty = self.values[to].ty.clone();
        let Some(Elem::Number(dtype)) = ty.elem() else { return None };
        let edge = nearest_bound(dtype, *self.constants.get(step)?)?;
        let [bound, nearest, limit] = [(); 3].map(|()| self.value(ty.clone(), loc));
        out.push(op(Const::Int(edge), Vec::new(), Some(bound), loc));
        out.push(op(Binary::Max, vec![to, bound], Some(nearest), loc));
        out.push(op(Binary::Sub, vec![nearest, step], Some(limit), loc));
        Some(limit)
    }

    fn value(&mut self, ty: Type, loc: crate::loc::Loc) -> Value {
        self.values.alloc(ValueData { ty, loc })
    }

    /// The copies of the prefix with the induction variable replaced, and what they are computed from: no more, for the rest
    /// may depend on what the loop carries.
    fn copies(&mut self, prefix: &[Stmt], iv: Value, at: Value) -> Vec<Stmt> {
        let mut map = BTreeMap::from([(key(iv), at)]);
        let mut out = Vec::new();
        let whole: Vec<Stmt> = prefix.iter().filter(|stmt| !stmt.is_stamp()).cloned().collect();
        let (needed, _) = split(whole);
        for stmt in &needed {
            let StmtKind::Op { op: kind, args, result } = &stmt.kind else { continue };
            let args =
                args.iter().map(|arg| map.get(&key(*arg)).copied().unwrap_or(*arg)).collect();
            let result = result.map(|old| {
                let data = self.values[old].clone();
                let new = self.values.alloc(data);
                map.insert(key(old), new);
                new
            });
            out.push(op(kind.clone(), args, result, stmt.loc));
        }
        out
    }
}

/// The bound nearest to where a counted loop starts from which one step back stays in the range of the type.
///
/// An iteration at `at` is followed by another if `at + step` is before `to`, but that sum may wrap: `to` may be near the end of the
/// range. `at` is compared with `to - step` instead, which does not wrap for any `to` from this one on; if `to` is before
/// it, `at` cannot be followed by another iteration, and this one says so. Steps of one never wrap.
pub(crate) fn nearest_bound(dtype: Dtype, step: i128) -> Option<i128> {
    (step.abs() > 1).then_some(bound_of(dtype, step))
}

/// [`nearest_bound`] of any step.
fn bound_of(dtype: Dtype, step: i128) -> i128 {
    let bits = dtype.bytes() * 8;
    let (low, high) = if dtype.is_signed() {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    if step > 0 { low + step } else { high + step }
}

/// An operation without operands, of which nothing follows but its effects.
fn statement(what: impl Into<Op>, loc: crate::loc::Loc) -> Stmt {
    op(what, Vec::new(), None, loc)
}

fn op(op: impl Into<Op>, args: Vec<Value>, result: Option<Value>, loc: crate::loc::Loc) -> Stmt {
    Stmt { kind: StmtKind::Op { op: op.into(), args, result }, loc }
}

fn is_pure(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Op { op, .. } if op.is_pure())
}

/// Where to cut a loop body, if rotating it is possible and gains something.
fn cut(body: &Region) -> Option<Cut> {
    if !matches!(body.end, Terminator::Continue(0, _))
        || body.stmts.iter().any(|stmt| leaves(stmt, 0))
    {
        return None;
    }
    let is = |stmt: &Stmt, wanted: fn(&Op) -> bool| matches!(&stmt.kind, StmtKind::Op { op, .. } if wanted(op));
    let copy =
        |stmt: &Stmt| is(stmt, |op| matches!(op, Op::Copy(CopyOp::Async(..) | CopyOp::Commit)));
    let acts = |stmt: &Stmt| !is_pure(stmt) && !stmt.is_stamp();
    let wait = body.stmts.iter().position(|stmt| acts(stmt) && !copy(stmt))?;
    let sync = body.stmts.iter().rposition(acts)?;
    let starts = body.stmts[..wait]
        .iter()
        .any(|stmt| is(stmt, |op| matches!(op, Op::Copy(CopyOp::Async(..)))));
    let ends = is(&body.stmts[sync], |op| matches!(op, Op::Sync(SyncOp::Block)));
    let product = body.stmts[wait..sync]
        .iter()
        .any(|stmt| is(stmt, |op| matches!(op, Op::Product(ProductOp::Dot(_)))));
    // Copies that depend on carried values would need next iteration's values before they are made.
    let carried = &body.args[1..];
    let mut tainted: Vec<Value> = carried.to_vec();
    let mut free = true;
    for stmt in &body.stmts[..wait] {
        let StmtKind::Op { args, result, .. } = &stmt.kind else { return None };
        if args.iter().any(|arg| tainted.contains(arg)) {
            match result {
                Some(result) if is_pure(stmt) => tainted.push(*result),
                _ => free = false,
            }
        }
    }
    (starts && ends && product && free && sync > wait).then_some(Cut { wait, sync })
}

/// Whether a statement leaves the loop `depth` levels up other than by its end, or the kernel.
fn leaves(stmt: &Stmt, depth: u32) -> bool {
    let ends = |region: &Region, depth: u32| {
        let out = match &region.end {
            Terminator::Return => true,
            Terminator::Break(to, _) | Terminator::Continue(to, _) => *to >= depth,
            Terminator::Yield(_) => false,
        };
        out || region.stmts.iter().any(|stmt| leaves(stmt, depth))
    };
    let depth = depth + u32::from(stmt.kind.is_loop());
    stmt.kind.regions().into_iter().any(|region| ends(region, depth))
}

/// The statements that memory and synchronisation need, and the pure ones that can come later; each in order.
fn split(stmts: Vec<Stmt>) -> (Vec<Stmt>, Vec<Stmt>) {
    let mut needed: Vec<Value> = Vec::new();
    let mut stays = vec![false; stmts.len()];
    for (index, stmt) in stmts.iter().enumerate().rev() {
        let wanted = if let StmtKind::Op { op, result, .. } = &stmt.kind
            && op.is_pure()
        {
            result.is_some_and(|result| needed.contains(&result))
        } else {
            true
        };
        if wanted {
            stays[index] = true;
            needed.extend(stmt.kind.mentioned());
        }
    }
    let (mut stay, mut sink) = (Vec::new(), Vec::new());
    for (stmt, stays) in stmts.into_iter().zip(stays) {
        if stays { stay.push(stmt) } else { sink.push(stmt) }
    }
    (stay, sink)
}
