//! The named axes along which a tile layout places elements.

use std::fmt;

/// A group of threads, or one of them; each is made of the one before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scope {
    /// One thread.
    Thread,
    /// 32 threads.
    Warp,
    /// Four warps.
    Warpgroup,
    /// The block.
    Cta,
    /// The blocks that are launched together.
    Cluster,
    /// All blocks.
    Grid,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scope::Thread => "thread",
            Scope::Warp => "warp",
            Scope::Warpgroup => "warpgroup",
            Scope::Cta => "cta",
            Scope::Cluster => "cluster",
            Scope::Grid => "grid",
        })
    }
}

/// A named axis of places.
///
/// Memory axes count places in a memory; thread axes count threads, or groups of them, within a wider group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TileAxis {
    /// `m`: elements of a linear memory, be it global, shared or a thread's own. The axis of a stride without a name.
    Memory,
    /// `TLane`: the row of tensor memory, 0 to 127.
    TLane,
    /// `TCol`: the column of tensor memory.
    TCol,
    /// `P`: the partition of a memory of partitions.
    Partition,
    /// `F`: the place within such a partition.
    Free,
    /// `Bank`: the bank of a memory of banks.
    Bank,
    /// `laneid`: the thread of a warp.
    LaneId,
    /// `wid_in_wg`: the warp of a warpgroup.
    WarpInWarpgroup,
    /// `tid_in_wg`: the thread of a warpgroup.
    ThreadInWarpgroup,
    /// `wgid`: the warpgroup of a block.
    WarpgroupId,
    /// `warpid`: the warp of a block.
    WarpId,
    /// `tx`: the thread of a block.
    Thread,
    /// `cbx`: the block of a cluster, first coordinate.
    ClusterBlockX,
    /// `cby`: the block of a cluster, second coordinate.
    ClusterBlockY,
    /// `cbz`: the block of a cluster, third coordinate.
    ClusterBlockZ,
    /// `bx`: the block of the grid, first coordinate.
    BlockX,
    /// `by`: the block of the grid, second coordinate.
    BlockY,
    /// `bz`: the block of the grid, third coordinate.
    BlockZ,
}

impl TileAxis {
    /// Every axis.
    pub const ALL: [TileAxis; 18] = [
        TileAxis::Memory,
        TileAxis::TLane,
        TileAxis::TCol,
        TileAxis::Partition,
        TileAxis::Free,
        TileAxis::Bank,
        TileAxis::LaneId,
        TileAxis::WarpInWarpgroup,
        TileAxis::ThreadInWarpgroup,
        TileAxis::WarpgroupId,
        TileAxis::WarpId,
        TileAxis::Thread,
        TileAxis::ClusterBlockX,
        TileAxis::ClusterBlockY,
        TileAxis::ClusterBlockZ,
        TileAxis::BlockX,
        TileAxis::BlockY,
        TileAxis::BlockZ,
    ];

    /// The axis's name in the notation.
    pub fn name(self) -> &'static str {
        match self {
            TileAxis::Memory => "m",
            TileAxis::TLane => "TLane",
            TileAxis::TCol => "TCol",
            TileAxis::Partition => "P",
            TileAxis::Free => "F",
            TileAxis::Bank => "Bank",
            TileAxis::LaneId => "laneid",
            TileAxis::WarpInWarpgroup => "wid_in_wg",
            TileAxis::ThreadInWarpgroup => "tid_in_wg",
            TileAxis::WarpgroupId => "wgid",
            TileAxis::WarpId => "warpid",
            TileAxis::Thread => "tx",
            TileAxis::ClusterBlockX => "cbx",
            TileAxis::ClusterBlockY => "cby",
            TileAxis::ClusterBlockZ => "cbz",
            TileAxis::BlockX => "bx",
            TileAxis::BlockY => "by",
            TileAxis::BlockZ => "bz",
        }
    }

    /// The axis of that name.
    ///
    /// ```
    /// use kernel_layout::tile::TileAxis;
    /// assert_eq!(TileAxis::from_name("TLane"), Some(TileAxis::TLane));
    /// assert_eq!(TileAxis::from_name("tlane"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<TileAxis> {
        TileAxis::ALL.into_iter().find(|axis| axis.name() == name)
    }

    /// What an axis of threads counts, and within which group; nothing for an axis of memory.
    ///
    /// ```
    /// use kernel_layout::tile::{Scope, TileAxis};
    /// assert_eq!(TileAxis::WarpId.scopes(), Some((Scope::Warp, Scope::Cta)));
    /// assert_eq!(TileAxis::Memory.scopes(), None);
    /// ```
    pub fn scopes(self) -> Option<(Scope, Scope)> {
        match self {
            TileAxis::Memory
            | TileAxis::TLane
            | TileAxis::TCol
            | TileAxis::Partition
            | TileAxis::Free
            | TileAxis::Bank => None,
            TileAxis::LaneId => Some((Scope::Thread, Scope::Warp)),
            TileAxis::WarpInWarpgroup => Some((Scope::Warp, Scope::Warpgroup)),
            TileAxis::ThreadInWarpgroup => Some((Scope::Thread, Scope::Warpgroup)),
            TileAxis::WarpgroupId => Some((Scope::Warpgroup, Scope::Cta)),
            TileAxis::WarpId => Some((Scope::Warp, Scope::Cta)),
            TileAxis::Thread => Some((Scope::Thread, Scope::Cta)),
            TileAxis::ClusterBlockX | TileAxis::ClusterBlockY | TileAxis::ClusterBlockZ => {
                Some((Scope::Cta, Scope::Cluster))
            }
            TileAxis::BlockX | TileAxis::BlockY | TileAxis::BlockZ => {
                Some((Scope::Cta, Scope::Grid))
            }
        }
    }

    /// Whether the axis counts threads or groups of them.
    pub fn is_thread(self) -> bool {
        self.scopes().is_some()
    }

    /// How many threads one step along the axis is, for axes within a block.
    pub(crate) fn threads(self) -> Option<i64> {
        Some(match self.scopes()?.0 {
            Scope::Thread => 1,
            Scope::Warp => 32,
            Scope::Warpgroup => 128,
            Scope::Cta | Scope::Cluster | Scope::Grid => return None,
        })
    }

    /// The axis that counts `of` within `within`, if there is exactly one.
    pub(crate) fn counting(of: Scope, within: Scope) -> Option<TileAxis> {
        let mut axes = TileAxis::ALL.into_iter().filter(|axis| axis.scopes() == Some((of, within)));
        let first = axes.next();
        // Of blocks in a cluster there are three.
        if axes.next().is_some() { None } else { first }
    }
}

impl fmt::Display for TileAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why the axes of a layout do not fit together.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ScopeError {
    /// Two axes count the same thing within different groups.
    Conflict {
        /// One of them.
        first: TileAxis,
        /// The other.
        second: TileAxis,
    },
    /// An axis is missing between two others.
    Gap {
        /// The widest group that can be reached from the smallest one.
        reached: Scope,
        /// The axis beyond the gap.
        axis: TileAxis,
    },
}

impl fmt::Display for ScopeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScopeError::Conflict { first, second } => {
                write!(f, "conflicting scopes: {first} and {second} count the same")
            }
            ScopeError::Gap { reached, axis } => write!(
                f,
                "disconnected scope chain: no axis leads from a {reached} to what {axis} counts"
            ),
        }
    }
}

impl std::error::Error for ScopeError {}

/// What the axes count, and within what: the ends of the chain that they make up; nothing without axes of threads.
///
/// # Errors
/// When two count the same within different groups, or the chain has a gap.
pub(crate) fn scope(axes: &[TileAxis]) -> Result<Option<(Scope, Scope)>, ScopeError> {
    let mut threads: Vec<TileAxis> = axes.iter().copied().filter(|axis| axis.is_thread()).collect();
    threads.sort_unstable_by_key(|axis| axis.scopes());
    threads.dedup_by_key(|axis| axis.scopes());
    let edges: Vec<(TileAxis, (Scope, Scope))> =
        threads.into_iter().filter_map(|axis| Some((axis, axis.scopes()?))).collect();
    for (index, &(second, (of, _))) in edges.iter().enumerate() {
        if let Some(&(first, _)) = edges[..index].iter().find(|(_, (other, _))| *other == of) {
            return Err(ScopeError::Conflict { first, second });
        }
    }
    // Edges are sorted by what they count, so each must begin where the last one ends.
    let Some(&(_, (from, mut to))) = edges.first() else { return Ok(None) };
    for &(axis, (of, within)) in &edges[1..] {
        if of != to {
            return Err(ScopeError::Gap { reached: to, axis });
        }
        to = within;
    }
    Ok(Some((from, to)))
}
