//! Statements that a kernel lacks, and arguments that are wrong, until they stand beside its text.

use crate::loc::Loc;

/// What is missing between two places.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Missing {
    /// What is missing.
    pub(crate) what: Lacking,
    /// What it comes after.
    pub(crate) after: Loc,
    /// What it comes before.
    pub(crate) before: Loc,
    /// Where between the two it goes.
    pub(crate) spot: Spot,
}

/// Where a missing statement goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    /// In the innermost block that holds both places, before the later one.
    Between,
    /// Right before the later one.
    Before,
    /// Right after the earlier one.
    After,
    /// After the earlier one, and the loops around it.
    Behind,
}

/// What is missing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lacking {
    /// A wait for `cp.async`, and a `sync()` after it if there is none.
    CopyAsync,
    /// A wait on a barrier.
    Phase(Phase),
    /// An `expect` of the bytes of the copy at [`Missing::before`].
    Expect {
        /// The barrier, or the ring that it is of.
        barrier: String,
        bytes: i128,
    },
    /// The argument of the wait at [`Missing::before`] is for another phase.
    OtherPhase {
        /// How many barriers the ring has, if it is one of a ring, and where it is made.
        ring: Option<(u32, Loc)>,
        /// The parity that a wait outside of loops is for.
        parity: i128,
    },
    /// The wait at [`Missing::before`] is for the other parity of each phase.
    OtherParity,
    /// A barrier at which one part arrives and on which the other one waits.
    HandedOver(Signal),
    /// A wait for a product of `wgmma`, which is started at [`Missing::after`].
    Product {
        /// The variable that holds the accumulator.
        name: Option<String>,
        /// It is assigned to, and not declared again.
        mutable: bool,
        /// So many later products may stay in flight.
        pending: u32,
    },
    /// The choice of the condition at [`Missing::before`], which is a mask of so many axes, element by element.
    Mask(usize),
    /// The choice of the `match` on the tile at [`Missing::before`], element by element.
    Selections,
    /// A comparison of the position of each element with the number at [`Missing::before`].
    Bound,
    /// What masks away the elements between an extent, at [`Missing::before`], and the next power of two.
    Extent { extent: i128, up: i128 },
    /// An arrival at a barrier, or one of a ring, at the end of the block with the wait at [`Missing::after`].
    Arrival { barrier: String },
    /// A tile from outside that a partition uses at [`Missing::after`], through shared memory.
    Taken { name: String, dtype: &'static str, shape: Vec<u32> },
    /// The variable that a partition assigns to at [`Missing::after`], through shared memory.
    Passed {
        name: String,
        dtype: &'static str,
        /// Empty for a scalar.
        shape: Vec<u32>,
    },
    /// The loop around the `warp_specialize` at [`Missing::before`] belongs into its parts.
    LoopInside,
    /// This statement.
    Text(String),
}

/// How a part says that it has come to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Its threads arrive.
    Arrive,
    /// The tensor cores arrive after its products.
    Commit,
}

/// What a wait for products of `tcgen05` lacks besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commit {
    /// Nothing: it is committed to the barrier, or no product.
    Done,
    /// The commit to the barrier.
    Missing,
    /// The barrier too: its name may be another one.
    OfNewBarrier,
}

/// A wait on a barrier.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Phase {
    /// How the kernel calls the barrier; that of a ring by the name of the ring.
    pub(crate) barrier: String,
    /// How many barriers the ring has, if it is one of a ring.
    pub(crate) ring: Option<u32>,
    /// What of it is missing as well.
    pub(crate) commit: Commit,
    /// Outside of loops it is for the first phase.
    pub(crate) first: bool,
    /// Nothing else waits on the barrier, and each iteration has one phase.
    pub(crate) alone: bool,
}
