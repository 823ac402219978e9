//! Blocked layouts, recognised by their bases: `linear(..)`, `slice(..)` and `layout!(..)` may write the same layout.

use kernel_layout::{Dim, Form, Layout};

/// log2 of the lanes of a warp.
const LOG2_LANES: usize = 5;

/// A blocked layout of matrices in which every thread holds what it holds in `layout`, in registers of any order; none if there is
/// none.
pub(super) fn blocked(layout: &Layout, warps: u32) -> Option<Form> {
    let shape = layout.shape();
    if shape.len() != 2 {
        return None;
    }
    let threads = || [Dim::Lane, Dim::Warp].into_iter().flat_map(|dim| layout.bases(dim));
    let along_one =
        |basis: &Vec<u32>| basis.contains(&0) && basis.iter().sum::<u32>().count_ones() <= 1;
    if !threads().chain(layout.bases(Dim::Register)).all(along_one) {
        return None;
    }
    // Along an axis, what one thread has contiguous ends where the next thread begins.
    let per_thread: Vec<u32> = (0..2)
        .map(|axis| {
            let steps = threads().map(|basis| basis[axis]).filter(|&step| step > 0);
            steps.min().unwrap_or(shape[axis])
        })
        .collect();
    let splits = |bits: usize| (0..=bits).map(move |rows| vec![1 << rows, 1 << (bits - rows)]);
    let log2_warps = warps.trailing_zeros() as usize;
    let held = registers(layout);
    for order in [[1, 0], [0, 1]] {
        for lanes in splits(LOG2_LANES) {
            for warps in splits(log2_warps) {
                let form = Form::Blocked {
                    per_thread: per_thread.clone(),
                    lanes: lanes.clone(),
                    warps,
                    order: order.to_vec(),
                };
                let same = form.to_layout(&shape).is_ok_and(|other| {
                    [Dim::Lane, Dim::Warp].iter().all(|&dim| other.bases(dim) == layout.bases(dim))
                        && registers(&other) == held
                });
                if same {
                    return Some(form);
                }
            }
        }
    }
    None
}

/// The bases of registers that repeat no other, in a fixed order.
fn registers(layout: &Layout) -> Vec<Vec<u32>> {
    let bases = layout.bases(Dim::Register).iter();
    let mut bases: Vec<Vec<u32>> =
        bases.filter(|basis| basis.iter().any(|&part| part > 0)).cloned().collect();
    bases.sort();
    bases.dedup();
    bases
}

#[cfg(test)]
mod tests;
