//! Waits for asynchronous copies, and ends of groups.

use super::paths::{Does, before, jump, steps};
use super::touched::{Copying, copying};
use crate::lower::emitter::finish::results;
use crate::lower::emitter::{Inst, Node};

/// Marks the waits for `cp.async`, and the ends of its groups, where no copy can be in flight.
pub(super) fn drop_idle(order: &[Node], dropped: &mut [bool]) {
    let steps = steps(order, &mut |_, inst| copying(&inst.instruction));
    let in_flight = before(&steps, false, &|copying, in_flight| match copying {
        Copying::CpAsync => true,
        Copying::CpAsyncWaitAll => false,
        Copying::CpAsyncCommit
        | Copying::CpAsyncWaitSome
        | Copying::Bulk
        | Copying::Prefetch
        | Copying::BulkCommit
        | Copying::BulkWaitAll
        | Copying::BulkWaitSome => in_flight,
    });
    for (step, in_flight) in steps.iter().zip(in_flight) {
        let Does::Acts(Copying::CpAsyncCommit | Copying::CpAsyncWaitAll | Copying::CpAsyncWaitSome) =
            step.does
        else {
            continue;
        };
        dropped[step.node] |= in_flight != Some(true);
    }
}

/// Marks the ends of bulk groups that the next one can be the end of.
pub(super) fn drop_bulk_groups(order: &[Node], dropped: &mut [bool]) {
    let of = |node: &Node| match node {
        Node::Inst(inst) => copying(&inst.instruction),
        Node::Label(_) | Node::Frame(_) => None,
    };
    if order.iter().any(|node| of(node) == Some(Copying::BulkWaitSome)) {
        // It counts groups.
        return;
    }
    let mut open: Option<(usize, &Inst)> = None;
    for (at, node) in order.iter().enumerate() {
        let Node::Inst(inst) = node else {
            open = None;
            continue;
        };
        let guard = |inst: &Inst| inst.instruction.guard;
        match of(node) {
            Some(Copying::BulkCommit) => {
                if let Some((earlier, _)) = open.filter(|(_, open)| guard(open) == guard(inst)) {
                    dropped[earlier] = true;
                }
                open = Some((at, inst));
            }
            Some(Copying::BulkWaitAll | Copying::BulkWaitSome) => open = None,
            Some(
                Copying::CpAsync
                | Copying::CpAsyncCommit
                | Copying::CpAsyncWaitAll
                | Copying::CpAsyncWaitSome
                | Copying::Bulk
                | Copying::Prefetch,
            )
            | None => {}
        }
        let mut changes = jump::<()>(inst).is_some();
        results(inst, &mut |reg| {
            changes |= open.and_then(|(_, open)| guard(open)).is_some_and(|on| on.predicate == reg);
        });
        if changes {
            open = None;
        }
    }
}
