//! What the source calls what reports about a kernel that runs name: memory, barriers, partitions.

use super::sync::barrier::BARRIER_BYTES;
use super::{Lower, Split};
use crate::loc::Loc;

/// The names of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// What is in shared memory.
    pub memory: Vec<NamedMemory>,
    /// The partitions of a kernel that is specialised.
    pub partitions: Vec<NamedWarps>,
}

/// What is in some bytes of shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedMemory {
    /// What the source calls it.
    pub name: String,
    /// Where it begins, from the start of a block's shared memory.
    pub start: u32,
    /// The bytes of all of it.
    pub bytes: u32,
    /// Of what has an index: the bytes of each.
    pub each_bytes: Option<u32>,
    /// Of mbarriers: how many warps arrive for one arrival in the source. `None` unless it is an mbarrier.
    pub warps_an_arrival: Option<u32>,
}

/// The warps that run a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedWarps {
    /// The first of them.
    pub first: u32,
    /// How many there are.
    pub warps: u32,
    /// Line and column, from 1, of the partition in the kernel's file.
    pub place: (u32, u32),
}

impl Lower<'_> {
    /// The names of the kernel.
    pub(crate) fn names(&self, line_of: &dyn Fn(Loc) -> (u32, u32)) -> Names {
        let (kernel, plan) = (self.kernel, &self.plan);
        let tiles = kernel.shared.iter().filter_map(|(shared, data)| {
            let (start, tile, count) = plan.allocation(kernel, shared);
            let ring = data.shape.first().filter(|_| count > 1);
            Some(NamedMemory {
                name: data.name.clone()?,
                start,
                bytes: tile * count,
                each_bytes: ring.map(|ring| tile * count / ring),
                warps_an_arrival: None,
            })
        });
        let barriers = kernel.barriers.iter().filter_map(|(root, data)| {
            Some(NamedMemory {
                name: data.name.clone()?,
                start: plan.barrier_start(root),
                bytes: data.ring.unwrap_or(1) * BARRIER_BYTES,
                each_bytes: data.ring.map(|_| BARRIER_BYTES),
                warps_an_arrival: Some(self.weights.get(root).copied().unwrap_or(1)),
            })
        });
        let memory = tiles.chain(barriers).collect();
        let partitions = self.split.iter().flat_map(Split::partitions);
        let partitions = partitions.map(|(first, partition)| NamedWarps {
            first,
            warps: partition.warps,
            place: line_of(partition.loc),
        });
        Names { memory, partitions: partitions.filter(|named| named.place.0 > 0).collect() }
    }
}
