//! The tensor memory of one block: 128 lanes of 512 columns of 32 bits (PTX ISA, "Tensor Memory").
//!
//! Which columns are free, its multiprocessor says (`machine/multiprocessor.rs`). Columns that were allocated anew count as never written.
//!
//! For the order of accesses, sixteen neighbouring lanes of a column are one [`Unit`]: every access covers all or
//! none of them, but for `tcgen05.cp.4x256b`.

use super::race::Clock;

/// Lanes of tensor memory.
pub(crate) const LANES: usize = 128;
/// Columns of tensor memory.
pub(crate) const COLUMNS: u32 = kernel_ptx::Target::TENSOR_COLUMNS;
/// Lanes of a [`Unit`].
const SHARE: usize = 16;
/// Units of a column.
const UNITS: usize = LANES / SHARE;

/// Who touched a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum By {
    #[default]
    Nobody,
    /// A warp of the block, by `tcgen05.ld` or `tcgen05.st`: its number, and its time in the race detector.
    Warp { index: u32, time: u32 },
    /// An operation of the tensor core, by the index of its signature.
    Operation { signature: u32 },
    /// A warp of the block allocated it: its number, and its time in the race detector.
    Allocation { index: u32, time: u32 },
}

/// An access to a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) by: By,
    /// The number of the load or store of the warp, or of the operation.
    pub(crate) number: u32,
    pub(crate) pc: u32,
}

/// The last accesses to sixteen lanes of a column.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unit {
    pub(crate) write: Mark,
    pub(crate) reads: [Mark; 2],
}

/// Units: whole columns of some of the shares of sixteen lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// A bit for each sixteen lanes.
    pub(crate) shares: u8,
    pub(crate) column: u32,
    pub(crate) columns: u32,
}

impl Region {
    /// The sixteen lanes each that hold `lanes` lanes from `lane` on.
    pub(crate) fn shares(lane: u32, lanes: u32) -> u8 {
        let share = u32::try_from(SHARE).expect("16");
        let mut bits = 0;
        for i in lane / share..(lane + lanes).div_ceil(share) {
            bits |= 1 << i;
        }
        bits
    }

    /// The numbers of its units.
    pub(crate) fn units(self) -> impl Iterator<Item = usize> {
        let columns = self.column as usize..(self.column + self.columns) as usize;
        columns.flat_map(move |column| {
            (0..UNITS)
                .filter(move |share| self.shares >> share & 1 != 0)
                .map(move |share| column * UNITS + share)
        })
    }
}

/// How many loads or stores a warp issued, and how many of them it has waited for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Issued {
    pub(crate) count: u32,
    pub(crate) waited: u32,
    /// What those touch that it has not waited for.
    pub(crate) open: Vec<Region>,
}

/// The loads, stores and fences of one warp.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accesses {
    pub(crate) loads: Issued,
    pub(crate) stores: Issued,
    /// What it knew when it last executed `tcgen05.fence::after_thread_sync`.
    pub(crate) after: Clock,
}

/// What a warp of each block of a pair does, and both do together (PTX ISA, "Issue Granularity").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Together {
    Alloc { columns: u32 },
    Dealloc { columns: u32 },
    Relinquish,
}

impl Together {
    pub(crate) fn text(self) -> String {
        match self {
            Together::Alloc { columns } => format!("`tcgen05.alloc` of {columns} columns"),
            Together::Dealloc { columns } => format!("`tcgen05.dealloc` of {columns} columns"),
            Together::Relinquish => "`tcgen05.relinquish_alloc_permit`".to_owned(),
        }
    }
}

/// The tensor memory of a block.
#[derive(Debug, Default)]
pub(crate) struct TensorMemory {
    /// Lane after lane; empty until the first allocation.
    cells: Vec<u32>,
    /// Whether a cell was written.
    written: Vec<bool>,
    units: Vec<Unit>,
    /// First column and number of columns, in order.
    allocations: Vec<(u32, u32)>,
    /// The size of the last allocation, and whether there will be no further one.
    pub(crate) last: Option<u32>,
    pub(crate) relinquished: bool,
    /// What the block has begun of what pairs do together, in order.
    pub(crate) begun: Vec<Together>,
    /// Warps that wait for the other block or for room, with the place of what they have begun.
    pub(crate) waiting: Vec<(u32, usize)>,
    /// By warp.
    pub(crate) warps: Vec<Accesses>,
}

impl TensorMemory {
    /// What it takes of the host's memory where a block allocates any.
    pub(crate) const BYTES: usize = COLUMNS as usize
        * (LANES * (size_of::<u32>() + size_of::<bool>()) + UNITS * size_of::<Unit>());

    /// Forgets everything, for a block of this many warps.
    pub(crate) fn reset(&mut self, warps: usize) {
        self.cells.clear();
        self.written.clear();
        self.units.clear();
        self.allocations.clear();
        (self.last, self.relinquished) = (None, false);
        self.begun.clear();
        self.waiting.clear();
        self.warps.clear();
        self.warps.resize(warps, Accesses::default());
    }

    /// Allocates columns that are free.
    pub(crate) fn allocate(&mut self, start: u32, columns: u32) {
        let cells = LANES * COLUMNS as usize;
        self.cells.resize(cells, 0);
        self.written.resize(cells, false);
        self.units.resize(COLUMNS as usize * UNITS, Unit::default());
        for lane in 0..u32::try_from(LANES).expect("128") {
            let range = Self::range(lane, start, columns);
            self.written[range].fill(false);
        }
        self.allocations.push((start, columns));
        self.allocations.sort_unstable();
        self.last = Some(columns);
    }

    /// The allocations: first column, columns.
    pub(crate) fn allocations(&self) -> &[(u32, u32)] {
        &self.allocations
    }

    /// Gives columns back. Whether they were one allocation.
    pub(crate) fn deallocate(&mut self, start: u32, columns: u32) -> bool {
        let before = self.allocations.len();
        self.allocations.retain(|allocation| *allocation != (start, columns));
        self.allocations.len() < before
    }

    /// The first of some columns that is not allocated.
    pub(crate) fn missing(&self, column: u32, columns: u32) -> Option<u32> {
        (column..column + columns).find(|column| {
            !self.allocations.iter().any(|(first, count)| (*first..first + count).contains(column))
        })
    }

    fn range(lane: u32, column: u32, columns: u32) -> std::ops::Range<usize> {
        let start = (lane * COLUMNS + column) as usize;
        start..start + columns as usize
    }

    /// Cells of one lane, which are allocated, and which of them were written.
    pub(crate) fn row(&self, lane: u32, column: u32, columns: u32) -> (&[u32], &[bool]) {
        let range = Self::range(lane, column, columns);
        (&self.cells[range.clone()], &self.written[range])
    }

    /// The same, to be written.
    pub(crate) fn row_mut(
        &mut self,
        lane: u32,
        column: u32,
        columns: u32,
    ) -> (&mut [u32], &mut [bool]) {
        let range = Self::range(lane, column, columns);
        (&mut self.cells[range.clone()], &mut self.written[range])
    }

    /// The unit of a number, see [`Region::units`].
    pub(crate) fn unit(&self, unit: usize) -> &Unit {
        &self.units[unit]
    }

    /// The same, to be changed.
    pub(crate) fn unit_mut(&mut self, unit: usize) -> &mut Unit {
        &mut self.units[unit]
    }
}
