//! The operands of `wgmma`.

use super::{D, Pred, W};
use crate::numeric::wgmma::{Accumulator, Factor};

/// `wgmma`, all forms.
#[derive(Clone, Debug)]
pub(crate) enum Wgmma {
    Mma(Box<Product>),
    Fence,
    Commit,
    Wait { keep: u32 },
}

/// `wgmma.mma_async`.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    pub(crate) accumulator: Accumulator,
    /// Columns of B and D.
    pub(crate) columns: u32,
    pub(crate) d: Box<[W]>,
    pub(crate) a: Left,
    pub(crate) a_type: Factor,
    pub(crate) b: Tile,
    pub(crate) b_type: Factor,
    /// Whether D is added to.
    pub(crate) scale_d: Pred,
    /// Whether products are subtracted: one of the two immediate scales is -1.
    pub(crate) negated: bool,
    /// Of a sparse product, what of A is kept.
    pub(crate) sparse: Option<Metadata>,
}

/// The metadata of a sparse A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Metadata {
    pub(crate) data: W,
    /// Which lanes of each four give it.
    pub(crate) selector: u32,
}

impl Product {
    /// Elements of a row of A: 32 bytes.
    pub(crate) const fn depth(&self) -> usize {
        32 / self.a_type.bytes()
    }

    /// Bytes of a column of B: twice as many if half of A is left out.
    pub(crate) const fn column_bytes(&self) -> u32 {
        if self.sparse.is_some() { 64 } else { 32 }
    }

    /// Elements of a column of B.
    pub(crate) const fn depth_of_b(&self) -> usize {
        self.column_bytes() as usize / self.b_type.bytes()
    }

    /// The registers of A's fragments; none where A is in shared memory.
    pub(crate) fn fragments(&self) -> &[W] {
        match &self.a {
            Left::Fragments(registers) => &registers[..],
            Left::Shared(_) => &[],
        }
    }
}

/// Where A comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Left {
    Fragments([W; 4]),
    Shared(Tile),
}

/// A matrix in shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    pub(crate) descriptor: D,
    pub(crate) major: Major,
}

/// Which dimension of a matrix is contiguous in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Major {
    K,
    /// Rows of A, columns of B.
    Mn,
}
