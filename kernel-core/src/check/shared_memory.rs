//! The shared memory of a block: all allocations of a kernel that are in use at the same time.

use std::collections::BTreeSet;

use kernel_layout::Form;

use crate::{
    diag::{Code, Diagnostic},
    ir::{Kernel, Shared, SharedData},
    loc::Loc,
};

/// Where every allocation begins: at a multiple of this many bytes.
const ALIGNMENT_BYTES: u64 = 128;

/// Allocations that together are more than a block can have, although those share bytes that are never in use at the same time.
pub(super) fn check(kernel: &Kernel) -> Option<Diagnostic> {
    let rings = kernel.rings();
    let limit = u64::from(kernel.target.hardware().shared_bytes_per_block);
    let mut total = 0u64;
    // Bytes that a stage more costs, and the numbers of stages of all loops.
    let (mut of_stage, mut counts) = (0, BTreeSet::new());
    let mut over = None;
    let mut sizes = Vec::new();
    for (root, data) in kernel.shared.iter() {
        let stages = rings.get(root).copied().unwrap_or(1);
        let elements: u64 = data.shape.iter().map(|extent| u64::from(*extent)).product();
        // Padding is as long as what it pads.
        let padded = matches!(data.pinned, Some(Form::NvmmaShared { fp4_padded: true, .. }));
        let bytes = elements * u64::from(data.dtype.shared_bytes()) * if padded { 2 } else { 1 };
        let bytes = bytes.next_multiple_of(ALIGNMENT_BYTES);
        total += bytes * u64::from(stages);
        sizes.push((root, bytes * u64::from(stages)));
        if rings.contains_idx(root) {
            of_stage += bytes;
            counts.insert(stages);
        }
        if total > limit {
            over.get_or_insert(data.loc);
        }
    }
    let over = over?;
    let needed = together(kernel, sizes);
    if needed <= limit {
        return None;
    }
    let headline = format!("a block on {} cannot have this much shared memory", kernel.target);
    let diagnostic = Diagnostic::new(Code::SharedBudget, over, headline).compare(
        "bytes",
        format!("at most {limit}"),
        needed.to_string(),
    );
    let stages = counts.first().filter(|_| counts.len() == 1).map(|stages| u64::from(*stages));
    let fitting = stages.and_then(|stages| {
        // What shares bytes is counted once for the loop too.
        let others = needed.saturating_sub(of_stage * stages);
        limit.checked_sub(others)?.checked_div(of_stage).filter(|fitting| *fitting > 0)
    });
    let diagnostic = match (stages, fitting) {
        (Some(stages), Some(fitting)) => {
            diagnostic.compare("stages", format!("at most {fitting}"), stages)
        }
        _ => diagnostic,
    };
    let diagnostic = diagnostic
        .why("allocations share bytes only if a `sync()` in the body of the kernel stands between the last use of one and the first use of the other; what a pipelined loop fills counts once for each stage");
    Some(fewer(kernel, (over, diagnostic), limit, needed))
}

/// Says how many buffers of a ring there is memory for. Rings that go around together become shorter together.
fn fewer(
    kernel: &Kernel,
    (at, diagnostic): (Loc, Diagnostic),
    limit: u64,
    needed: u64,
) -> Diagnostic {
    let Some((_, own)) = kernel.shared.iter().find(|(_, data)| data.loc == at) else {
        return diagnostic;
    };
    let ([ring, rest @ ..], None) = (&own.shape[..], &own.pinned) else { return diagnostic };
    if rest.len() < 2 {
        return diagnostic;
    }
    let with_it = || {
        let rings = kernel.shared.iter().filter(|(_, data)| data.shape.len() > 1);
        rings.filter(|(_, data)| data.shape.first() == Some(ring)).map(|(_, data)| data)
    };
    let of_one = |data: &SharedData| {
        let elements = data.shape[1..].iter().map(|extent| u64::from(*extent)).product::<u64>();
        elements * u64::from(data.dtype.shared_bytes())
    };
    let of_all: u64 = with_it().map(of_one).sum();
    let others = needed.saturating_sub(of_all * u64::from(*ring));
    let most = limit.checked_sub(others).and_then(|left| left.checked_div(of_all));
    let Some(most) = most.filter(|most| *most > 0) else { return diagnostic };
    let barriers = kernel.barriers.iter().any(|(_, data)| data.ring == Some(*ring));
    if with_it().count() > 1 || barriers {
        return diagnostic.compare("buffers of each ring", format!("at most {most}"), ring);
    }
    let shape: Vec<u64> = [most].into_iter().chain(rest.iter().map(|&one| one.into())).collect();
    diagnostic.help(format!("shared::<{}>({shape:?})", own.dtype.name()))
}

/// The bytes of allocations, of which those share some that are never in use at the same time: each takes the first place that is free.
fn together(kernel: &Kernel, mut sizes: Vec<(Shared, u64)>) -> u64 {
    let lifetimes = kernel.lifetimes();
    sizes.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let mut placed: Vec<(Shared, u64, u64)> = Vec::new();
    for (root, bytes) in sizes {
        let others = || placed.iter().filter(|(other, ..)| !lifetimes.are_apart(root, *other));
        let fits =
            |start: &u64| others().all(|&(_, first, end)| end <= *start || start + bytes <= first);
        let ends = others().map(|&(.., end)| end).chain([0]);
        let start = ends.filter(fits).min().expect("nothing begins after the last end");
        placed.push((root, start, start + bytes));
    }
    placed.iter().map(|&(.., end)| end).max().unwrap_or(0)
}
