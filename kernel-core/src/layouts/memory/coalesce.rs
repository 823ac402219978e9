//! Layouts for access to global memory.

use kernel_layout::forms::{Form, LANES, blocked_form_for};
use kernel_layout::{Dim, Layout};

use crate::layouts::Access;

/// What one memory transaction moves, in bytes: a sector of the L2 cache.
const SECTOR_BYTES: u32 = 32;
/// The longest access of one thread, in bytes.
const VECTOR_BYTES: u32 = 16;

/// A tile that is read or written as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent<'a> {
    pub(crate) shape: &'a [u32],
    pub(crate) element_bytes: u32,
    pub(crate) warps: u32,
}

impl Extent<'_> {
    pub(crate) fn bytes(self) -> u64 {
        self.shape.iter().map(|&extent| u64::from(extent)).product::<u64>()
            * u64::from(self.element_bytes)
    }

    /// The layout in which neighbouring lanes hold neighbours in memory.
    ///
    /// Warps go along the axis that is reduced only if the others leave no choice, so that as little as possible of a
    /// reduction crosses warps.
    pub(crate) fn coalesced(self, access: Access, reduced: Option<u32>) -> Layout {
        let rank = u32::try_from(self.shape.len()).expect("a rank is small");
        let others = (0..rank).rev().filter(|&axis| axis != access.axis);
        let order: Vec<u32> = std::iter::once(access.axis).chain(others).collect();
        let form = blocked_form_for(self.shape, &order, access.elements, self.warps);
        let form = match (form, reduced) {
            (Form::Blocked { per_thread, lanes, order, .. }, Some(reduced)) => {
                let room = |axis: u32| {
                    let at = axis as usize;
                    (self.shape[at] / per_thread[at] / lanes[at]).max(1)
                };
                let warps = self.spread_warps(
                    order.iter().copied().filter(|&axis| axis != reduced),
                    reduced,
                    room,
                );
                Form::Blocked { per_thread, lanes, warps, order }
            }
            (form, _) => form,
        };
        form.to_layout(self.shape).expect("the parameters were chosen to be right")
    }

    /// The same for a tile that comes in runs along the axis `from` in shared memory, so that both sides access vectors: each
    /// thread holds a piece with runs along both axes, as far as there are elements for that.
    pub(crate) fn turned(self, access: Access, from: u32) -> Layout {
        let rank = u32::try_from(self.shape.len()).expect("a rank is small");
        let others = (0..rank).rev().filter(|&axis| axis != access.axis && axis != from);
        let order: Vec<u32> = [access.axis, from].into_iter().chain(others).collect();
        let mut form = blocked_form_for(self.shape, &order, access.elements, self.warps);
        if let Form::Blocked { per_thread, lanes, warps, .. } = &mut form {
            let at = from as usize;
            // What the threads do not take of the axis is for registers anyway.
            let covered = (lanes[at] * warps[at]).min(self.shape[at]);
            let longest = (VECTOR_BYTES / self.element_bytes).max(1);
            per_thread[at] = longest.min(self.shape[at] / covered);
        }
        form.to_layout(self.shape).expect("the parameters were chosen to be right")
    }

    /// Deals warps out along `axes`, each taking as many as there is room for, the rest along the axis `last`.
    fn spread_warps(
        self,
        axes: impl Iterator<Item = u32>,
        last: u32,
        room: impl Fn(u32) -> u32,
    ) -> Vec<u32> {
        let mut warps = vec![1; self.shape.len()];
        let mut left = self.warps;
        for axis in axes {
            let taken = room(axis).min(left);
            warps[axis as usize] = taken;
            left /= taken;
        }
        warps[last as usize] *= left;
        warps
    }

    /// The layout by rows, for a tile that nothing else decides about.
    pub(crate) fn by_rows(self, reduced: Option<u32>) -> Layout {
        let axis = u32::try_from(self.shape.len() - 1).expect("a rank is small");
        self.coalesced(
            Access { axis, elements: (VECTOR_BYTES / self.element_bytes).max(1) },
            reduced,
        )
    }

    /// Whether memory should not be accessed with this layout, because passing the tile through shared memory is cheaper.
    ///
    /// A tile of less than one vector per thread is not worth that.
    pub(crate) fn refuses(self, access: Access, layout: &Layout) -> bool {
        let worthwhile = self.bytes() >= u64::from(self.warps * LANES * VECTOR_BYTES);
        let run = |layout: &Layout| run_bytes(layout, access, self.element_bytes);
        worthwhile && run(layout) < SECTOR_BYTES && run(&self.coalesced(access, None)) > run(layout)
    }
}

/// How many consecutive bytes one instruction of a warp accesses: the vector of one lane, and that of its neighbours.
fn run_bytes(layout: &Layout, access: Access, element_bytes: u32) -> u32 {
    let axis = Dim::axis(access.axis as usize);
    let mut elements = layout.num_consecutive_along(Dim::Register, axis).min(access.elements);
    let is_next = |basis: &Vec<u32>, elements: u32| {
        basis
            .iter()
            .enumerate()
            .all(|(at, &part)| part == if at == access.axis as usize { elements } else { 0 })
    };
    while layout.bases(Dim::Lane).iter().any(|basis| is_next(basis, elements)) {
        elements *= 2;
    }
    elements * element_bytes
}

/// The part of each thread in an asynchronous copy: runs of `vector` elements along `axis`, neighbouring threads contiguous along it.
pub(crate) fn copied(shape: &[u32], axis: usize, vector: u32, warps: u32) -> Layout {
    let rank = shape.len();
    let order = std::iter::once(axis).chain((0..rank).rev().filter(|&other| other != axis));
    let mut bases = order.flat_map(|axis| {
        (0..shape[axis].trailing_zeros()).map(move |bit| {
            let mut basis = vec![0; rank];
            basis[axis] = 1 << bit;
            basis
        })
    });
    let mut registers: Vec<Vec<u32>> =
        bases.by_ref().take(vector.trailing_zeros() as usize).collect();
    // Threads for which nothing is left repeat others.
    let mut take = |count: u32| -> Vec<Vec<u32>> {
        (0..count).map(|_| bases.next().unwrap_or_else(|| vec![0; rank])).collect()
    };
    let lanes = take(5);
    let warps = take(warps.trailing_zeros());
    registers.extend(bases);
    let outs = shape.iter().enumerate().map(|(axis, &extent)| (Dim::axis(axis), extent)).collect();
    Layout::new(vec![(Dim::Register, registers), (Dim::Lane, lanes), (Dim::Warp, warps)], outs)
        .expect("bases lie within the shape")
}
